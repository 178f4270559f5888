// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import io.kiln.base.incremental.Fingerprint.NoInput;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The files of a board profile.
 *
 * @param sources names of the C and assembler files to compile, keys of {@link #files}
 * @param linker name of the linker script, a key of {@link #files}; its folder must be on the linker's search path
 * @param files every file of the profile and of those it extends, by path relative to the profile's folder
 * @param untrusted {@code group:artifact:version:id} of each part that the build does not trust
 * @param foreignFiles those of {@link #files} that belong to an untrusted part
 * @param pack file or folder of the CMSIS-Pack that the board's device is in, if the profile names one
 */
public record BoardSupport(
        List<String> sources,
        Optional<String> linker,
        SortedMap<String, Bytes> files,
        List<String> untrusted,
        Set<String> foreignFiles,

        @NoInput(because = "what it says of the device is among the files and the other keys")
        Optional<Path> pack) {
    public BoardSupport {
        sources = List.copyOf(sources);
        untrusted = List.copyOf(untrusted);
        foreignFiles = Set.copyOf(foreignFiles);
        files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
    }

    /** The profile's own scripts for OpenOCD, by path. */
    SortedMap<String, Bytes> scripts() {
        TreeMap<String, Bytes> scripts = new TreeMap<>();
        files.forEach((name, content) -> {
            if (name.endsWith(".cfg") || name.endsWith(".tcl")) {
                scripts.put(name, content);
            }
        });
        return scripts;
    }
}
