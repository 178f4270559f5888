// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.util.List;
import java.util.Map;

/** The assembled chip after power-up: everything but the flash content has its reset value. */
final class Stm32f405 {
    private static final int CORE_TAP = 0x4ba00477;
    private static final int BOUNDARY_SCAN_TAP = 0x06413041;
    private static final int DEVICE = 0x10076413;

    private final FlashCells cells;
    private final FlashController controller;
    private final WordRegion peripherals = new WordRegion(0x40000000, 0x20000000);
    private final Core core;
    private final JtagChain chain;

    Stm32f405(byte[] flash, Faults faults) {
        cells = new FlashCells(flash, faults);
        controller = new FlashController(cells, faults);
        Ram ram = new Ram(0x20000000, 128 << 10);
        SystemBus bus = new SystemBus(ram);
        core = new Core(bus, ram);
        List.of(
                        new CoreDebug(core, this::reset),
                        controller,
                        new FlashArray(FlashArray.BASE, cells, controller),
                        new FlashArray(0, cells, controller),
                        new Ram(0x10000000, 64 << 10),
                        new SystemMemory(FlashContent.SIZE >>> 10),
                        peripherals,
                        new Breakpoints())
                .forEach(bus::attach);
        debugComponents(faults).forEach(bus::attach);
        int tapId = faults.find(Fault.WrongTapId.class)
                .map(Fault.WrongTapId::idCode)
                .orElse(CORE_TAP);
        chain = new JtagChain(List.of(new DebugPort(tapId, new AccessPort(bus)), new Tap(5, 1, BOUNDARY_SCAN_TAP)));
        reset();
    }

    /** Trace, watchpoints, the ROM table and the chip's identity: little more than storage. */
    private static List<Region> debugComponents(Faults faults) {
        int device = faults.find(Fault.WrongChipId.class)
                .map(Fault.WrongChipId::idCode)
                .orElse(DEVICE);
        return List.of(
                new WordRegion(0xe0000000, 0x1000),
                new FixedRegion(0xe0001000, 0x1000, Map.of(0, 0x40000000)),
                new WordRegion(0xe0040000, 0x1000),
                new FixedRegion(0xe0042000, 0x400, Map.of(0, device)),
                new WordRegion(0xe00ff000, 0x1000));
    }

    JtagChain chain() {
        return chain;
    }

    Core core() {
        return core;
    }

    /** Whether power is on; without it nothing drives TDO. */
    boolean powered() {
        return cells.powered();
    }

    /** Bytes programmed since power-up. */
    long programmedBytes() {
        return cells.programmed();
    }

    /** Drives the reset line. */
    void holdInReset(boolean hold) {
        if (hold) {
            reset();
        }
        core.hold(hold);
    }

    private void reset() {
        controller.reset();
        peripherals.clear();
        core.reset();
    }

    /**
     * The flash patch and breakpoint unit of a Cortex-M4 (FPB). Its comparators cover only the code region, where this chip
     * executes nothing: they can be set, and never match.
     */
    static final class Breakpoints extends WordRegion {
        private static final int CONTROL = 0;
        private static final int KEY = 2;
        /** Content of FP_CTRL: six code and two literal comparators. */
        private static final int IDENTITY = 0x260;

        Breakpoints() {
            super(0xe0002000, 0x1000);
        }

        @Override
        int readWord(int offset) {
            return offset == CONTROL ? super.readWord(CONTROL) | IDENTITY : super.readWord(offset);
        }

        @Override
        void writeWord(int offset, int value) {
            if (offset != CONTROL) {
                super.writeWord(offset, value);
            } else if ((value & KEY) != 0) {
                super.writeWord(CONTROL, value & 1);
            }
        }
    }

    /** Storage in which some words are fixed: writing them changes nothing. */
    private static final class FixedRegion extends WordRegion {
        private final Map<Integer, Integer> fixed;

        /** Storage with fixed words by their offset. */
        FixedRegion(int base, int size, Map<Integer, Integer> fixed) {
            super(base, size);
            this.fixed = Map.copyOf(fixed);
        }

        @Override
        int readWord(int offset) {
            return fixed.containsKey(offset) ? fixed.get(offset) : super.readWord(offset);
        }

        @Override
        void writeWord(int offset, int value) {
            if (!fixed.containsKey(offset)) {
                super.writeWord(offset, value);
            }
        }
    }
}
