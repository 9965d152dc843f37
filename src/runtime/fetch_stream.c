/* fetch_stream.c */
