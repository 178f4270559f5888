// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;

/**
 * The clocks of a chip as its start-up code sets them.
 *
 * @param source name of the oscillator, a source of the family
 * @param pll how the core's clock is made from it
 * @param bus what divides the core's clock for the bus of memories
 * @param peripherals what divides the bus's clock for each bus of peripherals
 * @param waitStates wait states of the flash, in cycles of the bus; empty if the clock does not set them
 * @param modes what the regulator needs for it
 */
public record ClockTree(
        String source, Pll pll, int bus, List<Integer> peripherals, OptionalInt waitStates, Modes modes) {
    public ClockTree {
        peripherals = List.copyOf(peripherals);
    }

    /**
     * A PLL: its oscillator runs at source / divider * factor, the core at an integer part of that.
     *
     * @param hertz of the source
     * @param divider before the PLL
     * @param factor of the PLL
     * @param output divider behind the PLL
     */
    public record Pll(long hertz, int divider, int factor, int output) {
        /** Frequency of the PLL's own oscillator. */
        public long oscillator() {
            return hertz / divider * factor;
        }
    }

    /**
     * Modes of the regulator.
     *
     * @param overdrive whether the core is faster than without over-drive
     * @param scale the voltage scale to choose; empty if that after reset will do
     */
    public record Modes(boolean overdrive, OptionalInt scale) {}

    /** Frequency of the core. */
    public long hertz() {
        return pll.oscillator() / pll.output;
    }

    /** Wait states of the flash in cycles of the core: an access of a slower bus takes several of them. */
    public OptionalInt coreWaitStates() {
        return waitStates.isEmpty() ? waitStates : OptionalInt.of((waitStates.getAsInt() + 1) * bus - 1);
    }

    /** The numbers as macros of C. */
    public List<String> macros() {
        List<String> macros = new ArrayList<>();
        macros.add("KILN_CLOCK_SOURCE_" + source.toUpperCase(Locale.ROOT) + " 1");
        macros.add("KILN_SOURCE_CLOCK " + pll.hertz + "u");
        macros.add("KILN_PLL_DIVIDER " + pll.divider + "u");
        macros.add("KILN_PLL_FACTOR " + pll.factor + "u");
        macros.add("KILN_PLL_CLOCK " + pll.oscillator() + "u");
        macros.add("KILN_PLL_OUTPUT_DIVIDER " + pll.output + "u");
        macros.add("KILN_BUS_DIVIDER " + bus + "u");
        for (int i = 0; i < peripherals.size(); i++) {
            String name = "KILN_PERIPHERALS_" + (i + 1);
            macros.add(name + "_DIVIDER " + peripherals.get(i) + "u");
            macros.add(name + "_CLOCK " + hertz() / bus / peripherals.get(i) + "u");
        }
        waitStates.ifPresent(states -> macros.add("KILN_WAIT_STATES " + states + "u"));
        if (modes.overdrive) {
            macros.add("KILN_OVERDRIVE 1");
        }
        modes.scale.ifPresent(scale -> macros.add("KILN_VOLTAGE_SCALE " + scale));
        return macros;
    }
}
