// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.BusFault;

/**
 * An Arm JTAG debug port (ADIv5 JTAG-DP) with one access port. A data scan shifts RnW in bit 0, the register in bits
 * 2:1 and data in 34:3; the output is the acknowledgement in 2:0 and the result of the previous read. Transactions
 * complete at once, so WAIT is never answered.
 */
final class DebugPort extends Tap {
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
