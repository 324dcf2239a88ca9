"""What assistants and editors ask by the Model Context Protocol: tools, and the server that offers them."""
