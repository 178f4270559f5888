// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import io.kiln.toolchain.board.Boards;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Zips of board profiles. */
final class BoardZips {
    private BoardZips() {}

    /** The profiles of some boards, each with its own files alone. */
    static Bytes of(Boards boards, List<String> ids) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            for (String id : ids) {
                for (Map.Entry<String, Bytes> file : boards.ownFiles(id).entrySet()) {
                    zip.putNextEntry(new ZipEntry(id + "/" + file.getKey()));
                    zip.write(file.getValue().toArray());
                    zip.closeEntry();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Bytes.wrap(out.toByteArray());
    }
}
