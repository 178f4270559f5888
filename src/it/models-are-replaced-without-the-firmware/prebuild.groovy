// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

// A checkout makes files that others may read; a private key among them is refused.
Files.setPosixFilePermissions(new File(basedir, 'test-key.pem').toPath(), PosixFilePermissions.fromString('rw-------'))
return true
