/* base64.c */
