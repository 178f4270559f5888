// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Build systems that take a model as a library of C sources. Each has its templates in the resources below {@code export/}. */
enum SourceForm {
    /** A makefile. */
    C("src", "include", "example", ""),
    /** A package of CMake, to be added as a folder or installed. */
    CMAKE("src", "include", "example", ""),
    /** A module of Zephyr. */
    ZEPHYR("src", "include", "samples/proof/src", ""),
    /** A component of ESP-IDF. */
    ESP_IDF("src", "include", "examples/proof/main", ""),
    /** A library of Arduino, whose only include folder is that of the sources. */
    ARDUINO("src", "src", "examples/Proof", "@NAME@-@VERSION@.zip"),
    /** A library of PlatformIO. */
    PLATFORMIO("src", "include", "examples/proof/src", ""),
    /** An Open-CMSIS-Pack. */
    CMSIS_PACK("src", "include", "example", "Kiln.@NAME@.@VERSION@.pack");

    private final String sources;
    private final String headers;
    private final String proof;
    private final String archive;

    SourceForm(String sources, String headers, String proof, String archive) {
        this.sources = sources;
        this.headers = headers;
        this.proof = proof;
        this.archive = archive;
    }

    /**
     * Reads the value of {@code kiln.export}.
     *
     * @param others values that do not name a build system
     * @throws KilnException for a value that does not exist, with the list of values
     */
    static SourceForm of(String text, String others) {
        return Arrays.stream(values())
                .filter(form -> form.text().equals(text))
                .findFirst()
                .orElseThrow(() -> Failure.CONFIG.exception(
                        "kiln.export is '" + text + "'",
                        "",
                        "one of " + others + ", "
                                + Arrays.stream(values()).map(SourceForm::text).collect(Collectors.joining(", ")),
                        "Change kiln.export"));
    }

    /** The build system's value of {@code kiln.export}, and the folder of its templates. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Folder of the sources. */
    String sources() {
        return sources;
    }

    /** Folder of the headers. */
    String headers() {
        return headers;
    }

    /** Folder of the example, which proves the answers. */
    String proof() {
        return proof;
    }

    /** Name of the archive in which the build system expects the library, as a template; empty if it takes the folder. */
    Optional<String> archive() {
        return archive.isEmpty() ? Optional.empty() : Optional.of(archive);
    }
}
