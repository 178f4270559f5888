// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.Registers;
import java.util.HashMap;
import java.util.Map;

/**
 * The system control space of a Cortex-M4 as used by debuggers: identity, reset, halting, and access to the core's
 * registers.
 */
final class CoreDebug extends WordRegion {
    private static final int CPUID = 0xd00;
    private static final int AIRCR = 0xd0c;
    private static final int DFSR = 0xd30;
    private static final int DHCSR = 0xdf0;
    private static final int DCRSR = 0xdf4;
    private static final int DCRDR = 0xdf8;
    private static final int DEMCR = 0xdfc;
    private static final int MVFR0 = 0xf40;
    private static final int MVFR1 = 0xf44;
    private static final int DEBUG_KEY = 0xa05f;
    private static final int RESET_KEY = 0x05fa;
    private static final int CONTROL_BITS = 0x2f;
    private static final int PROGRAM_STATUS = 16;
    private static final int MAIN_STACK = 17;

    private final Core core;
    private final Runnable systemReset;
    /** Registers without a function here, kept as storage: the process stack, special and floating-point registers. */
    private final Map<Integer, Integer> otherRegisters = new HashMap<>();

    private int data;

    CoreDebug(Core core, Runnable systemReset) {
        super(0xe000e000, 0x1000);
        this.core = core;
        this.systemReset = systemReset;
    }

    @Override
    int readWord(int offset) {
        return switch (offset) {
            case CPUID -> 0x410fc241;
            case AIRCR -> 0xfa050000;
            case DFSR -> core.events();
            case DHCSR -> status();
            case DCRSR -> 0;
            case DCRDR -> data;
            case DEMCR -> core.catches();
            case MVFR0 -> 0x10110021;
            case MVFR1 -> 0x11000011;
            default -> super.readWord(offset);
        };
    }

    @Override
    void writeWord(int offset, int value) {
        switch (offset) {
            case AIRCR -> {
                if (value >>> 16 == RESET_KEY && (value & 5) != 0) {
                    systemReset.run();
                }
            }
            case DFSR -> core.clearEvents(value);
            case DHCSR -> {
                if (value >>> 16 == DEBUG_KEY) {
                    core.setControl(value & CONTROL_BITS);
                }
            }
            case DCRSR -> transfer(value & 0x7f, (value & 1 << 16) != 0);
            case DCRDR -> data = value;
            case DEMCR -> core.setCatches(value);
            default -> super.writeWord(offset, value);
        }
    }

    /** The status bits of DHCSR: S_REGRDY always; S_RETIRE while the core runs; S_RESET once after each reset. */
    private int status() {
        return core.control()
                | 1 << 16
                | (core.halted() ? 1 << 17 : 0)
                | (core.lockedUp() ? 1 << 19 : 0)
                | (core.halted() ? 0 : 1 << 24)
                | (core.takeResetSeen() ? 1 << 25 : 0);
    }

    private void transfer(int selector, boolean write) {
        if (!core.halted()) {
            return;
        }
        Registers registers = core.registers();
        int register = selector == MAIN_STACK ? Registers.SP : selector;
        if (!write) {
            data = register < 16
                    ? registers.get(register)
                    : register == PROGRAM_STATUS ? registers.programStatus() : otherRegisters.getOrDefault(register, 0);
        } else if (register < 16) {
            registers.set(register, data);
        } else if (register == PROGRAM_STATUS) {
            registers.setProgramStatus(data);
        } else {
            otherRegisters.put(register, data);
        }
    }
}
