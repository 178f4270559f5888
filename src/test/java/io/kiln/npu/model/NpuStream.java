// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.util.List;

/** A small assembler of command streams. */
final class NpuStream {
    static final int CONVOLUTION = 0x002;
    static final int DEPTHWISE = 0x003;
    static final int POOL = 0x005;
    static final int ELEMENTWISE = 0x006;
    static final int DMA_START = 0x010;

    static final int IFM_PAD_TOP = 0x100;
    static final int IFM_DEPTH_M1 = 0x104;
    static final int IFM_PRECISION = 0x105;
    static final int IFM_UPSCALE = 0x107;
    static final int OFM_WIDTH_M1 = 0x111;
    static final int OFM_PRECISION = 0x114;
    static final int OFM_BLK_DEPTH_M1 = 0x117;
    static final int KERNEL_WIDTH_M1 = 0x120;
    static final int KERNEL_STRIDE = 0x122;
    static final int PARALLEL_MODE = 0x123;
    static final int ACTIVATION = 0x125;
    static final int WEIGHT_REGION = 0x128;
    static final int SCALE_REGION = 0x129;
    static final int DMA0_SRC_REGION = 0x130;
    static final int IFM2_BROADCAST = 0x180;
    static final int IFM2_SCALAR = 0x181;
    static final int IFM2_PRECISION = 0x185;
    static final int IFM2_ZERO_POINT = 0x189;

    static final int WEIGHT_BASE = 0x020;
    static final int SCALE_BASE = 0x022;
    static final int OFM_SCALE = 0x024;
    static final int OPA_SCALE = 0x025;
    static final int OPB_SCALE = 0x026;
    static final int DMA0_SRC = 0x030;
    static final int WEIGHT1_BASE = 0x090;
    static final int SCALE1_BASE = 0x092;

    /** Id 1.0.6 of the architecture. */
    private static final int ARCHITECTURE = 0x10060000;

    private static final int STOP = 0xffff0000;
    private static final int WITH_PAYLOAD = 0x4000;

    /** Where a payload's stream begins. */
    static final int BEGIN = 32;

    private final NpuJob.Numbers words = new NpuJob.Numbers();

    /** A command of one word: sets a register, or begins an operation. */
    NpuStream set(int opcode, int parameter) {
        words.number(opcode | parameter << 16);
        return this;
    }

    /** A command with a payload of 32 bits. */
    NpuStream set(int opcode, int parameter, int payload) {
        words.number(opcode | WITH_PAYLOAD | parameter << 16).number(payload);
        return this;
    }

    /** Registers with numbers that follow each other. */
    NpuStream all(int first, List<Integer> parameters) {
        for (int i = 0; i < parameters.size(); i++) {
            set(first + i, parameters.get(i));
        }
        return this;
    }

    /** Registers with payloads that follow each other. */
    NpuStream wide(int first, List<Integer> payloads) {
        for (int i = 0; i < payloads.size(); i++) {
            set(first + i, 0, payloads.get(i));
        }
        return this;
    }

    /** Offset of the next command in the payload. */
    int offset() {
        return BEGIN + words.size();
    }

    /** The payload, with STOP at its end. */
    byte[] payload(int config) {
        return payload(config, words.size() / 4 + 1, STOP);
    }

    /** A payload with another length in words, or another last command. */
    byte[] payload(int config, int length, int last) {
        return new NpuJob.Numbers()
                .number(0x31504f43)
                .number(0x00100001)
                .number(config)
                .number(ARCHITECTURE)
                .number(5)
                .number(5)
                .number(5)
                .number(2 | length << 16)
                .bytes(words.toByteArray())
                .number(last)
                .toByteArray();
    }
}
