// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.firmware.OwnParts;

/** {@code <firmware>}: how Kiln's part stands beside a vendor's. */
public final class Beside {
    private static final Element KIND = Element.of(
                    "kind",
                    "image",
                    "What is made: image, a firmware, or library, in addition a static library of the models for"
                            + " another build, with its headers and a file for CMake.")
            .ofGroup();
    private static final Element STARTUP = Element.of(
                    "startup",
                    "board",
                    "Who has reset, vectors and handlers: board, or own for the project's code, such as a vendor's"
                            + " start-up file.")
            .single();
    private static final Element LINKER = Element.of(
                    "linker",
                    "The linker script: a file, or own for the only one in the project's folder. If not set, the"
                            + " board's.")
            .single();
    private static final Element CONSOLE = Element.of(
                    "console",
                    "board",
                    "Who defines the functions of kiln_console.h: board, own for the project's code, or none for"
                            + " nobody: what is sent is lost.")
            .single();

    public static final ParameterGroup FIRMWARE = new ParameterGroup("firmware", KIND, STARTUP, LINKER, CONSOLE);

    private Beside() {}

    /** What the project brings itself. */
    public static OwnParts own(GroupValues firmware) {
        return OwnParts.of(firmware.text(KIND), firmware.text(STARTUP), firmware.file(LINKER), firmware.text(CONSOLE));
    }
}
