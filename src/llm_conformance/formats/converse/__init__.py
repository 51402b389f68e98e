"""The wire format `converse`."""
