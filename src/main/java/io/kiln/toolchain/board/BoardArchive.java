// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import io.kiln.base.PlainZip;
import io.kiln.base.PlainZip.Kind;
import io.kiln.base.PlainZip.Limits;
import io.kiln.toolchain.pack.DeviceBoard;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** A zip of board profiles, one folder per profile at its root. */
final class BoardArchive {
    /** Descriptions of peripherals are the only large files. */
    private static final Kind PROFILES = new Kind(
            "board profiles",
            "board-profile",
            "my-board/startup.c",
            2,
            new Limits(32 << 20, 2_000, 1 << 20, 32L << 20),
            Map.of(".svd", DeviceBoard.MOST_SVD));

    private BoardArchive() {}

    /**
     * The files by path: folder, then path in the folder.
     *
     * @throws io.kiln.base.KilnException naming the entry, if the file is too large, is not a zip, or has entries that no profile needs
     */
    static SortedMap<String, Bytes> read(Path zip) {
        return PlainZip.read(PROFILES, zip);
    }

    static void write(BoardFiles profiles, Path zip) {
        TreeMap<String, Bytes> files = new TreeMap<>();
        for (String id : profiles.ids()) {
            profiles.read(id).orElseThrow().forEach((name, content) -> files.put(id + "/" + name, content));
        }
        PlainZip.write(PROFILES, files, zip);
    }
}
