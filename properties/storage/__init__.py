"""Devices, volumes and the claims for them."""
