"""How providers speak, without any adapter."""
