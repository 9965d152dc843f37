/* host_json.c */
