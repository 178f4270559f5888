// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.device.probe.thumb.ThumbCore.Outcome;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** A core with a little memory at {@link #BASE}, set up and looked at as text: {@code r0=1 sp=2 c=1 nzcv=0110 w256=3} (word at BASE + 256). */
final class TestCore implements Memory {
    static final int BASE = 0x20000000;

    private final ByteBuffer memory = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    private final ThumbCore core = new ThumbCore(this);

    TestCore() {
        core.registers().set(Registers.PC, BASE);
    }

    /** Puts half-words at the base. */
    void load(String code) {
        int at = 0;
        for (String halfWord : code.split(" ", -1)) {
            memory.putShort(at, (short) Integer.parseInt(halfWord, 16));
            at += 2;
        }
    }

    Outcome step() {
        return core.step();
    }

    Registers registers() {
        return core.registers();
    }

    void set(String text) {
        for (String each : words(text)) {
            String name = each.substring(0, each.indexOf('='));
            int value = value(each);
            if ("nzcv".contains(name)) {
                int bit = 1 << (31 - "nzcv".indexOf(name));
                int status = core.registers().programStatus();
                core.registers().setProgramStatus(value == 0 ? status & ~bit : status | bit);
            } else if (name.startsWith("w")) {
                memory.putInt(Integer.parseInt(name.substring(1)), value);
            } else {
                core.registers().set(register(name), value);
            }
        }
    }

    void check(String assembly, Outcome outcome, String expected) {
        assertThat(outcome).as(assembly).isEqualTo(Outcome.CONTINUE);
        for (String each : words(expected)) {
            String name = each.substring(0, each.indexOf('='));
            int actual = name.equals("nzcv")
                    ? core.registers().programStatus() >>> 28
                    : name.startsWith("w")
                            ? memory.getInt(Integer.parseInt(name.substring(1)))
                            : core.registers().get(register(name));
            int value = name.equals("nzcv") ? Integer.parseInt(each.substring(5), 2) : value(each);
            assertThat(Integer.toHexString(actual)).as(assembly + ": " + name).isEqualTo(Integer.toHexString(value));
        }
    }

    private static List<String> words(String text) {
        return text == null || text.isBlank() ? List.of() : List.of(text.split(" ", -1));
    }

    private static int value(String assignment) {
        return Long.decode(assignment.substring(assignment.indexOf('=') + 1)).intValue();
    }

    private static int register(String name) {
        return switch (name) {
            case "sp" -> Registers.SP;
            case "lr" -> Registers.LR;
            case "pc" -> Registers.PC;
            default -> Integer.parseInt(name.substring(1));
        };
    }

    @Override
    public int read(int address, int size) {
        int offset = checked(address, size);
        return size == 4
                ? memory.getInt(offset)
                : size == 2 ? memory.getShort(offset) & 0xffff : memory.get(offset) & 0xff;
    }

    @Override
    public void write(int address, int size, int value) {
        int offset = checked(address, size);
        for (int i = 0; i < size; i++) {
            memory.put(offset + i, (byte) (value >>> (8 * i)));
        }
    }

    private int checked(int address, int size) {
        int offset = address - BASE;
        if (offset < 0 || offset > memory.capacity() - size) {
            throw new BusFault(address);
        }
        return offset;
    }
}
