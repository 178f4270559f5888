// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.device.emulator.FunctionCounter.Calls;
import java.nio.file.Path;
import java.util.List;

/** Counts the instructions of functions that a program calls one after another, here or elsewhere. */
@FunctionalInterface
public interface CallsCounter {
    /**
     * Runs a program.
     *
     * @param image ELF file with its symbols, linked for the board
     * @param functions names of the functions in the order of their calls
     * @param told name of the function that is called after each of them
     */
    Calls count(Path image, List<String> functions, String told);
}
