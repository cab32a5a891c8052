"""Devices that cannot be used."""
