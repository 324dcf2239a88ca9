"""What pods use of storage and devices, as the API server has it, and who works on it: claims, volumes, and their controllers."""
