// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.FlashCells.LittleEndianWords;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import io.kiln.device.probe.thumb.BusFault;
import io.kiln.device.probe.thumb.Memory;
import io.kiln.device.probe.thumb.Registers;
import java.util.ArrayList;
import java.util.HashMap;
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

    /** The part of the system memory with one-time programmable bytes (here always unused and never written), identity and size. */
    private static final class SystemMemory extends WordRegion {
        private static final int BASE = 0x1fff7800;
        private static final int OTP_END = 0x210;
        private static final int UNIQUE_ID = 0x210;
        private static final int FLASH_SIZE = 0x220;

        private final int kibibytes;

        SystemMemory(int kibibytes) {
            super(BASE, 0x800);
            this.kibibytes = kibibytes;
        }

        @Override
        int readWord(int offset) {
            if (offset < OTP_END) {
                return -1;
            }
            return switch (offset) {
                case UNIQUE_ID -> 0x004b494c;
                case UNIQUE_ID + 4 -> 0x4e30300a;
                case FLASH_SIZE -> kibibytes << 16 | 0xffff;
                default -> 0;
            };
        }

        @Override
        void writeWord(int offset, int value) {
            throw new BusFault(BASE + offset);
        }
    }

    /**
     * An Arm JTAG debug port (ADIv5 JTAG-DP) with one access port. A data scan shifts RnW in bit 0, the register in bits
     * 2:1 and data in 34:3; the output is the acknowledgement in 2:0 and the result of the previous read. Transactions
     * complete at once, so WAIT is never answered.
     */
    private static final class DebugPort extends Tap {
        private static final int DPACC = 0xa;
        private static final int APACC = 0xb;
        private static final int IDCODE = 0xe;
        private static final int ABORT = 0x8;
        private static final int ACK_OK = 2;
        private static final int STICKY_ERROR = 1 << 5;
        /** Requests for reset and power of the debug logic; the bit above each acknowledges it. */
        private static final int REQUESTS = 1 << 26 | 1 << 28 | 1 << 30;

        private static final int STICKY_FLAGS = 1 << 1 | 1 << 4 | STICKY_ERROR;

        private final AccessPort accessPort;
        private int control;
        private int select;
        private int result;

        DebugPort(int idCode, AccessPort accessPort) {
            super(4, IDCODE, idCode);
            this.accessPort = accessPort;
        }

        @Override
        int dataLength(int selected) {
            return selected == DPACC || selected == APACC || selected == ABORT ? 35 : 1;
        }

        @Override
        long captureData(int selected) {
            return (result & 0xffffffffL) << 3 | ACK_OK;
        }

        @Override
        void updateData(int selected, long value) {
            boolean read = (value & 1) != 0;
            int register = (int) value >> 1 & 3;
            int data = (int) (value >>> 3);
            if (selected == DPACC) {
                if (read) {
                    result = readPort(register);
                } else {
                    writePort(register, data);
                }
            } else if (selected == APACC && (control & STICKY_ERROR) == 0) {
                access(read, register, data);
            }
        }

        private int readPort(int register) {
            return switch (register) {
                case 1 -> control | (control & REQUESTS) << 1;
                case 2 -> select;
                default -> 0;
            };
        }

        private void writePort(int register, int data) {
            if (register == 1) {
                int sticky = control & STICKY_FLAGS & ~data;
                control = (data & (REQUESTS | 1)) | sticky;
            } else if (register == 2) {
                select = data;
            }
        }

        private void access(boolean read, int register, int data) {
            boolean present = select >>> 24 == 0;
            int address = (select & 0xf0) | register << 2;
            try {
                if (read) {
                    result = present ? accessPort.read(address) : 0;
                } else if (present) {
                    accessPort.write(address, data);
                }
            } catch (BusFault e) {
                control |= STICKY_ERROR;
            }
        }
    }

    /** The system control space of a Cortex-M4 as used by debuggers: identity, reset, halting, and access to the core's registers. */
    static final class CoreDebug extends WordRegion {
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
                        : register == PROGRAM_STATUS
                                ? registers.programStatus()
                                : otherRegisters.getOrDefault(register, 0);
            } else if (register < 16) {
                registers.set(register, data);
            } else if (register == PROGRAM_STATUS) {
                registers.setProgramStatus(data);
            } else {
                otherRegisters.put(register, data);
            }
        }
    }

    /** An Arm memory access port (ADIv5 MEM-AP on an AHB): the debugger's access to the chip's bus. */
    private static final class AccessPort {
        private static final int CSW = 0x00;
        private static final int TAR = 0x04;
        private static final int DRW = 0x0c;
        private static final int BD0 = 0x10;
        private static final int BD3 = 0x1c;
        private static final int BASE = 0xf8;
        private static final int IDR = 0xfc;
        private static final int IDENTIFICATION = 0x24770011;
        private static final int ROM_TABLE = 0xe00ff003;
        private static final int ENABLED = 1 << 6;
        /** Fields that software may set: size, address increment, protection and the like. */
        private static final int CSW_WRITABLE = 0xff000037;

        private final Memory bus;
        private int csw = ENABLED | 2;
        private int address;

        AccessPort(Memory bus) {
            this.bus = bus;
        }

        /** Reads a register; reading data advances the transfer address. */
        int read(int register) {
            if (register >= BD0 && register <= BD3) {
                return bus.read(banked(register), 4);
            }
            return switch (register) {
                case CSW -> csw;
                case TAR -> address;
                case DRW -> readData();
                case BASE -> ROM_TABLE;
                case IDR -> IDENTIFICATION;
                default -> 0;
            };
        }

        /** Writes a register; writing data advances the transfer address. */
        void write(int register, int value) {
            if (register >= BD0 && register <= BD3) {
                bus.write(banked(register), 4, value);
            } else if (register == CSW) {
                csw = (value & CSW_WRITABLE) | ENABLED;
            } else if (register == TAR) {
                address = value;
            } else if (register == DRW) {
                writeData(value);
            }
        }

        private int banked(int register) {
            return (address & ~15) | (register & 12);
        }

        private int size() {
            return 1 << Math.min(csw & 7, 2);
        }

        private boolean increments() {
            return (csw & 0x30) != 0;
        }

        /** Accesses per transfer: several for packed transfers, otherwise one. */
        private int accesses() {
            return (csw & 0x30) == 0x20 ? 4 / size() : 1;
        }

        private int readData() {
            int size = size();
            int word = 0;
            for (int i = accesses(); i > 0; i--) {
                word |= bus.read(address, size) << (8 * (address & 3));
                address += increments() ? size : 0;
            }
            return word;
        }

        private void writeData(int word) {
            int size = size();
            for (int i = accesses(); i > 0; i--) {
                bus.write(address, size, word >>> (8 * (address & 3)));
                address += increments() ? size : 0;
            }
        }
    }

    /** Volatile memory. Accesses need not be aligned. */
    static final class Ram extends Region {
        private final byte[] content;

        Ram(int base, int size) {
            super(base, size);
            this.content = new byte[size];
        }

        @Override
        public int read(int address, int size) {
            return LittleEndianWords.read(content, checked(address, size), size);
        }

        @Override
        public void write(int address, int size, int value) {
            int offset = checked(address, size);
            for (int i = 0; i < size; i++) {
                content[offset + i] = (byte) (value >>> (8 * i));
            }
        }

        private int checked(int address, int size) {
            int offset = offset(address);
            if (offset > content.length - size) {
                throw new BusFault(address);
            }
            return offset;
        }
    }

    /** Dispatches accesses to the first region that contains the address. An address outside all regions faults. */
    static final class SystemBus implements Memory {
        private final List<Region> regions = new ArrayList<>();
        private Region last;
        private long writes;

        SystemBus(Region first) {
            regions.add(first);
            last = first;
        }

        void attach(Region region) {
            regions.add(region);
        }

        /** Number of writes: if it is unchanged, memory is unchanged. */
        long writes() {
            return writes;
        }

        @Override
        public int read(int address, int size) {
            return region(address).read(address, size);
        }

        @Override
        public void write(int address, int size, int value) {
            writes++;
            region(address).write(address, size, value);
        }

        private Region region(int address) {
            if (last.holds(address)) {
                return last;
            }
            for (Region region : regions) {
                if (region.holds(address)) {
                    last = region;
                    return region;
                }
            }
            throw new BusFault(address);
        }
    }
}
