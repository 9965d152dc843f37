/* function_json.c */
