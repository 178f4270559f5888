// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A small RPC server, written from the protocol's description: at most 256 KiB of memory, a system library with {@code double_it(int8 in, out)},
 * {@code sum(ints)} and {@code fails}, an AOT executor of the model {@code m} (16 bytes in, doubled out), and a time evaluator.
 */
final class ScriptedServer {
    static final int MEMORY = 0x20000000;
    static final int TENSOR_BYTES = 16;
    private static final int MOST_MEMORY = 256 << 10;

    private static final List<String> GLOBALS = List.of(
            "runtime.SystemLib",
            "tvm.rpc.server.ModuleGetFunction",
            "tvm.rpc.server.GetCRTMaxPacketSize",
            "tvm.aot_executor.create",
            "runtime.RPCTimeEvaluator");
    private static final List<String> LIBRARY = List.of("double_it", "sum", "fails", "tvmgen_m_get_c_metadata");
    private static final List<String> EXECUTOR =
            List.of("get_input", "get_output", "get_num_inputs", "get_num_outputs", "run", "get_input_name");
    private static final int INPUT = MEMORY;
    private static final int OUTPUT = MEMORY + TENSOR_BYTES;

    private final int buffer;
    private byte[] memory = new byte[256];
    private int free = 64;
    private boolean hasExecutor;
    private int measured;
    private int repeats;

    ScriptedServer(int buffer) {
        this.buffer = buffer;
    }

    /** An argument or result: its type code, and what it holds. */
    private record Item(int type, long number, String text) {}

    /** Answers a packet; empty if it wants no answer. */
    Optional<byte[]> handle(ByteBuffer packet) {
        try {
            if (packet.getLong() != packet.remaining()) {
                return Optional.of(exception("length"));
            }
            return answer(packet.getInt(), packet);
        } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
            return Optional.of(exception("error 0x0802"));
        }
    }

    private Optional<byte[]> answer(int code, ByteBuffer in) {
        return switch (code) {
            case 0, 1 -> Optional.empty();
            case 2 -> Optional.of(nothing());
            case 3 -> Optional.of(call(in.getLong(), items(in)));
            case 6 -> Optional.of(copyFrom(in));
            case 7 -> Optional.of(copyTo(in));
            case 9 -> Optional.of(global(items(in).get(0).text()));
            case 10 -> {
                hasExecutor &= items(in).get(0).number() != 0x8001;
                yield Optional.of(nothing());
            }
            case 13 -> {
                int at = free;
                free += (int) items(in).get(1).number() + 15 & ~15;
                if (free > MOST_MEMORY) {
                    yield Optional.of(exception("error 0x0503"));
                }
                memory = Arrays.copyOf(memory, Math.max(free, memory.length));
                yield Optional.of(values(new Item(3, MEMORY + at, "")));
            }
            case 14 -> Optional.of(nothing());
            case 16 -> {
                List<Item> items = items(in);
                System.arraycopy(
                        memory,
                        (int) items.get(0).number() - MEMORY,
                        memory,
                        (int) items.get(1).number() - MEMORY,
                        16);
                yield Optional.of(nothing());
            }
            default -> Optional.of(exception("Syscall not recognized"));
        };
    }

    private byte[] copyFrom(ByteBuffer in) {
        int at = address(in);
        byte[] data = new byte[(int) in.getLong()];
        System.arraycopy(memory, at, data, 0, data.length);
        return reply(8, data);
    }

    private byte[] copyTo(ByteBuffer in) {
        int at = address(in);
        int size = (int) in.getLong();
        in.get(memory, at, size);
        return nothing();
    }

    private byte[] global(String name) {
        int index = GLOBALS.indexOf(name);
        return values(new Item(3, index < 0 ? 0 : 0x80028000L + index, ""));
    }

    private byte[] call(long handle, List<Item> items) {
        int index = (int) (handle & 0x7FFF);
        return switch ((int) (handle >> 16) & 0x7FFF) {
            case 2 -> callGlobal(index, items);
            case 0 -> callLibrary(LIBRARY.get(index), items);
            case 1 -> callExecutor(EXECUTOR.get(index));
            case 0x7FFF -> index == measured ? seconds() : exception("error 0x0900");
            default -> exception("error 0x0101");
        };
    }

    private byte[] callGlobal(int index, List<Item> items) {
        return switch (index) {
            case 0 -> values(new Item(0, 9, ""), new Item(3, 0x8000, ""));
            case 1 -> {
                boolean isLibrary = items.get(0).number() == 0x8000;
                int at = (isLibrary ? LIBRARY : EXECUTOR).indexOf(items.get(1).text());
                long found = (items.get(0).number() << 16) + 0x8000 + at;
                yield at < 0
                        ? values(new Item(0, 4, ""), new Item(4, 0, ""))
                        : values(new Item(0, 10, ""), new Item(3, found, ""));
            }
            case 2 -> values(new Item(0, 0, ""), new Item(0, buffer - 11, ""));
            case 3 -> {
                if (hasExecutor) {
                    yield exception("error 0x0700");
                }
                hasExecutor = true;
                yield values(new Item(0, 9, ""), new Item(3, 0x8001, ""));
            }
            case 4 -> {
                measured++;
                repeats = (int) items.get(5).number();
                yield items.size() == 12
                        ? values(new Item(0, 10, ""), new Item(3, 0xFFFF8000L + measured, ""))
                        : exception("error 0x0800");
            }
            default -> exception("error 0x0101");
        };
    }

    private byte[] callLibrary(String name, List<Item> items) {
        return switch (name) {
            case "double_it" -> {
                twice((int) items.get(0).number() - MEMORY, (int) items.get(1).number() - MEMORY);
                yield values(new Item(0, 4, ""), new Item(4, 0, ""));
            }
            case "sum" ->
                values(
                        new Item(0, 0, ""),
                        new Item(0, items.stream().mapToLong(Item::number).sum(), ""));
            default -> exception("tvmgen_default_fails: num_args should be 3");
        };
    }

    private byte[] callExecutor(String name) {
        return switch (name) {
            case "run" -> {
                twice(0, TENSOR_BYTES);
                yield values(new Item(0, 4, ""), new Item(4, 0, ""));
            }
            case "get_num_inputs", "get_num_outputs" -> values(new Item(0, 0, ""), new Item(0, 1, ""));
            case "get_input" -> array(INPUT);
            case "get_output" -> array(OUTPUT);
            default -> values(new Item(0, 11, ""), new Item(11, 0, "x"));
        };
    }

    private void twice(int from, int to) {
        for (int i = 0; i < TENSOR_BYTES; i++) {
            memory[to + i] = (byte) (2 * memory[from + i]);
        }
    }

    private byte[] array(int at) {
        return values(new Item(0, 13, ""), new Item(7, at, ""), new Item(3, 0x1000, ""));
    }

    private byte[] seconds() {
        return values(new Item(0, 12, ""), new Item(12, repeats, ""));
    }

    private static int address(ByteBuffer in) {
        return (int) tensor(in) - MEMORY;
    }

    private static long tensor(ByteBuffer in) {
        long data = in.getLong();
        in.getLong();
        int dimensions = in.getInt();
        in.getInt();
        in.position(in.position() + 8 * dimensions);
        return data + in.getLong();
    }

    private static List<Item> items(ByteBuffer in) {
        int count = in.getInt();
        if (count < 0 || count > 32) {
            throw new IllegalArgumentException();
        }
        int[] types = new int[count];
        for (int i = 0; i < count; i++) {
            types[i] = in.getInt();
        }
        List<Item> items = new ArrayList<>();
        for (int type : types) {
            items.add(item(type, in));
        }
        return items;
    }

    private static Item item(int type, ByteBuffer in) {
        return switch (type) {
            case 4 -> new Item(type, 0, "");
            case 7 -> new Item(type, tensor(in), "");
            case 11 -> {
                byte[] text = new byte[(int) Math.min(in.getLong(), in.remaining())];
                in.get(text);
                yield new Item(type, 0, new String(text, StandardCharsets.UTF_8));
            }
            default -> new Item(type, in.getLong(), "");
        };
    }

    private static byte[] nothing() {
        return values(new Item(4, 0, ""));
    }

    private static byte[] exception(String text) {
        byte[] sequence = sequence(new Item(11, 0, text));
        return reply(5, sequence);
    }

    private static byte[] values(Item... items) {
        return reply(4, sequence(items));
    }

    private static byte[] sequence(Item... items) {
        ByteBuffer out = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(items.length);
        for (Item item : items) {
            out.putInt(item.type());
        }
        for (Item item : items) {
            switch (item.type()) {
                case 4 -> out.put(new byte[0]);
                case 7 ->
                    out.putLong(item.number())
                            .putInt(1)
                            .putInt(0)
                            .putInt(2)
                            .putInt(0x00010800)
                            .putLong(4)
                            .putLong(4)
                            .putLong(0);
                case 11 -> out.putLong(item.text().length()).put(item.text().getBytes(StandardCharsets.US_ASCII));
                case 12 -> {
                    out.putLong(8 * item.number());
                    for (int i = 0; i < item.number(); i++) {
                        out.putDouble(0.5 + i);
                    }
                }
                default -> out.putLong(item.number());
            }
        }
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    private static byte[] reply(int code, byte[] body) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(ByteBuffer.allocate(12)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(4 + body.length)
                .putInt(code)
                .array());
        out.writeBytes(body);
        return out.toByteArray();
    }
}
