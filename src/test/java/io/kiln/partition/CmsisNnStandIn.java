// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The functions that stand in for those of CMSIS-NN, see {@code src/test/c/cmsis-nn}. */
public final class CmsisNnStandIn {
    /** Their folder, with {@code Include} and {@code Source}. */
    public static final Path FOLDER = Path.of("src", "test", "c", "cmsis-nn");

    private CmsisNnStandIn() {}

    /** A copy with the interface of a version, such as {@code 6.0.0}, whose header the version is read from. */
    public static Path copy(Path to, String version) throws IOException {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copied = to.resolve(FOLDER.relativize(file).toString());
                Files.createDirectories(copied.getParent());
                Files.writeString(
                        copied,
                        Files.readString(file)
                                .replace(
                                        "#define CMSIS_NN_STAND_IN 7",
                                        "#define CMSIS_NN_STAND_IN " + version.charAt(0)));
            }
        }
        return to;
    }
}
