/* Temporary files without a name: nothing is left behind, however the process ends. */
#ifndef SN_BASE_TEMPFILE_H
#define SN_BASE_TEMPFILE_H

/* The folder for temporary files: `dir`, or if it is NULL or empty $TMPDIR, or /tmp. */
const char *sn_tempfile_folder(const char *dir);

/* Opens one for reading and writing: in the open folder `folder`, or with -1 in
 * sn_tempfile_folder(dir). Returns -1 with errno on failure. */
int sn_tempfile_open(int folder, const char *dir);

#endif
