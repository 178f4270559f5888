// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.Set;

/**
 * Where a program's tests run.
 *
 * @param onBoard whether the tests of the program run on the board rather than in an emulator
 * @param onHost whether unit tests run on this computer
 * @param onTarget whether unit tests run on the board's emulator
 */
public record TestSpec(boolean onBoard, boolean onHost, boolean onTarget) {
    /** The usual places: the emulator, and this computer for unit tests too. */
    public static final TestSpec USUAL = new TestSpec(false, true, true);

    private static final Set<String> UNITS = Set.of("host", "target");

    /**
     * Reads the parameters.
     *
     * @param on {@code emulator} or {@code board}
     * @param units {@code host} and {@code target}, or one of them
     * @throws KilnException for any other text
     */
    public static TestSpec of(String on, List<String> units) {
        if (!on.equals("emulator") && !on.equals("board")) {
            throw Failure.CONFIG.exception("tests cannot run on \"" + on + "\"", "kiln.test.on", "emulator or board");
        }
        units.stream().filter(unit -> !UNITS.contains(unit)).findFirst().ifPresent(unit -> {
            throw Failure.CONFIG.exception(
                    "unit tests cannot run on \"" + unit + "\"", "kiln.test.units", "host, target or both");
        });
        return new TestSpec(on.equals("board"), units.contains("host"), units.contains("target"));
    }
}
