// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A linked image that fits the board's memory.
 *
 * @param elf the executable
 * @param bin flat binary; empty for the board {@code host}, or if the memories are too far apart
 * @param hex Intel HEX; empty for the board {@code host}
 * @param map the linker's map
 * @param measurement how much memory it takes
 * @param relinked whether this build made it, rather than an earlier one
 */
public record Image(
        Path elf, Optional<Path> bin, Optional<Path> hex, Path map, Measurement measurement, boolean relinked) {
    public List<Path> files() {
        return Stream.of(Optional.of(elf), bin, hex, Optional.of(map))
                .flatMap(Optional::stream)
                .toList();
    }
}
