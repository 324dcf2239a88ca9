module example.com/own

go 1.25.0
