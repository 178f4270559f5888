// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.fault.StackUse;
import io.kiln.device.protocol.ImageConsole;
import io.kiln.device.protocol.ImageConsole.End;
import io.kiln.device.transport.TimedBytes;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A running program in an emulator, on this computer or on a board.
 *
 * @param output what it prints
 * @param input what it reads
 * @param image the ELF file, for the names in a fault
 * @param exit the exit code of a program of this computer, after its output has ended; empty if it has none
 * @param stack the deepest use of its stack, from what it said of it when it ended
 */
record ProgramRun(
        TimedBytes output,
        OutputStream input,
        Path image,
        Supplier<OptionalInt> exit,
        Function<OptionalLong, Optional<StackUse>> stack) {
    /**
     * Follows a program.
     *
     * @param limit longest time
     * @param console gets what it prints
     * @param enough gets it too, and says when the program need not go on
     * @return how it ended
     * @throws KilnException if it prints without end
     */
    Ending follow(Duration limit, Consumer<String> console, Predicate<String> enough) {
        FaultWatch faults = new FaultWatch(console);
        End end = ImageConsole.follow(output, limit, faults, enough);
        Optional<Problem> fault = faults.problem(image);
        if (end instanceof End.Returned returned) {
            return new Ending(OptionalInt.of(returned.code()), false, false, fault, stack.apply(returned.stackUsed()));
        }
        Optional<StackUse> use = stack.apply(OptionalLong.empty());
        OptionalInt code = end instanceof End.Closed ? exit.get() : OptionalInt.empty();
        return new Ending(code, end instanceof End.Enough, end instanceof End.TimeOver, fault, use);
    }

    /**
     * How a program ended.
     *
     * @param code its exit code, if it ended by itself
     * @param stopped whether it was stopped because it need not go on
     * @param late whether it was stopped because its time was over
     * @param fault the fault that it reported
     * @param stack the deepest use of its stack, if that is known
     */
    record Ending(OptionalInt code, boolean stopped, boolean late, Optional<Problem> fault, Optional<StackUse> stack) {
        /** What is wrong with it, whatever the program should do: a fault, or a stack that overflowed. */
        Optional<Problem> failure() {
            return fault.or(() -> stack.flatMap(StackUse::problem));
        }

        /** The end in a few words. */
        String text(Duration limit) {
            if (late) {
                return "it was stopped after " + limit.toSeconds() + " s";
            }
            return code.isPresent() ? "it ended with code " + code.getAsInt() : "it ended without a code";
        }
    }
}
