// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What writes a board's image to the hardware. */
public sealed interface Flashing permits Flashing.OpenOcd, Flashing.Programs, Flashing.ProjectApi, Flashing.Service {
    /**
     * How OpenOCD reaches the hardware.
     *
     * @param interfaceConfig configuration file of the probe, in OpenOCD's search path; empty if the probe is virtual
     * @param targetConfig configuration file of the chip, in OpenOCD's search path
     * @param transport such as {@code swd} or {@code hla_swd}; empty for the probe's default
     * @param speedKilohertz clock of the probe; 0 for the configuration's own
     * @param chipId the chip's identification, checked before anything is erased; empty to skip the check
     */
    record OpenOcd(
            String interfaceConfig,
            String targetConfig,
            Optional<String> transport,
            int speedKilohertz,
            Optional<ChipId> chipId)
            implements Flashing {
        /** A chip whose identification is not checked. */
        public OpenOcd(String interfaceConfig, String targetConfig, Optional<String> transport, int speedKilohertz) {
            this(interfaceConfig, targetConfig, transport, speedKilohertz, Optional.empty());
        }

        /** Whether Kiln's virtual probe and chip replace the hardware. */
        public boolean isVirtual() {
            return interfaceConfig.isEmpty();
        }
    }

    /**
     * A word of memory that tells a chip from related ones, which OpenOCD treats as equal.
     *
     * @param address address of the word, a multiple of 4
     * @param mask the bits that count, 1 to 0xffffffff
     * @param value their value, no bit outside the mask
     */
    record ChipId(long address, long mask, long value) {}

    /**
     * A service in a dependency of the plugin.
     *
     * @param options values of its options, by name
     */
    record Service(String name, Map<String, String> options) implements Flashing {
        public Service {
            options = Map.copyOf(options);
        }
    }

    /**
     * A server of microTVM's Project API, which builds an image of its own from the model's archive. It is a program, which runs
     * with the user's rights.
     *
     * @param directory its folder, a template or a generated project; absolute, or relative to the build's project
     * @param options values of its options, by name
     */
    record ProjectApi(String directory, Map<String, String> options) implements Flashing {
        public ProjectApi {
            options = Map.copyOf(options);
        }
    }

    /**
     * Programs that flash the board, any of which may be chosen.
     *
     * @param beside how OpenOCD reaches it, which is then the usual way
     * @param programs the programs, of which the first is the usual one without OpenOCD
     */
    record Programs(Optional<OpenOcd> beside, List<Program> programs) implements Flashing {
        public Programs {
            programs = List.copyOf(programs);
        }
    }

    /**
     * A program with what the board says about it.
     *
     * @param definition how it flashes
     * @param values the definition's parameters that the board sets
     */
    record Program(RunnerDefinition definition, Map<String, String> values) {
        public Program {
            values = Map.copyOf(values);
        }
    }
}
