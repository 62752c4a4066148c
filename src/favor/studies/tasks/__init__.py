"""Models that answer a request in an author's voice: rewrite a draft, or write what an instruction says."""
