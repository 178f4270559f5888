// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import io.kiln.npu.NpuOperation.Access;
import io.kiln.npu.NpuOperations.FeatureMap.Extent;
import io.kiln.npu.NpuOperations.FeatureMap.Layout;
import io.kiln.npu.NpuOperations.FeatureMap.Strides;
import io.kiln.npu.NpuOperations.FeatureMap.Tiles;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The operations of a stream for U55 or U65: registers keep their values from operation to operation. */
public final class NpuOperations {
    private static final List<String> POOLS = List.of("MAX", "AVERAGE", "REDUCE_SUM");
    private static final List<String> ELEMENTWISE =
            List.of("MUL", "ADD", "SUB", "MIN", "MAX", "LRELU", "ABS", "CLZ", "SHR", "SHL");

    /** Elementwise operations of one operand. */
    private static final int FIRST_UNARY = 5;

    private static final int LAST_UNARY = 7;

    /** A destination of DMA inside the NPU. */
    private static final int INTERNAL = 0x100;

    private final Map<String, Long> registers = new HashMap<>();
    private final NpuConfiguration configuration;
    private final List<NpuOperation> operations = new ArrayList<>();

    private NpuOperations(NpuConfiguration configuration) {
        this.configuration = configuration;
    }

    /** The operations of a payload, in order; none of a U85's, whose registers differ. */
    public static List<NpuOperation> of(DriverPayload payload) {
        NpuOperations reader = new NpuOperations(payload.configuration());
        if (payload.configuration().product() == NpuConfiguration.Product.U85) {
            return List.of();
        }
        for (Command command : payload.commands()) {
            if (command.starts()) {
                reader.start(command);
            } else if (command.name().startsWith("SET_")) {
                reader.registers.put(command.name().substring("SET_".length()), command.register());
            }
        }
        return List.copyOf(reader.operations);
    }

    /**
     * What leaves its region.
     *
     * @param sizes bytes of the regions, by their numbers
     * @param refusal makes the exception that names the first operation, region and address
     */
    public static void check(List<NpuOperation> operations, List<Long> sizes, Refusal refusal) {
        for (NpuOperation operation : operations) {
            for (Access access : operation.accesses()) {
                boolean isThere = access.region() < sizes.size();
                long size = isThere ? sizes.get(access.region()) : 0;
                if (access.first() < 0 || access.end() < access.first() || access.end() > size) {
                    throw refusal.of(
                            "operation " + operation.text() + " leaves region " + access.region() + " with its "
                                    + access.what(),
                            isThere
                                    ? "addresses below " + size + " in that region"
                                    : "one of the " + sizes.size() + " regions");
                }
            }
        }
    }

    private long get(String register) {
        return registers.getOrDefault(register, 0L);
    }

    private void start(Command command) {
        int parameter = command.parameter();
        String kind = command.name();
        switch (kind) {
            case "DMA_START" -> add(command, "DMA", get("DMA0_LEN") + " bytes", 0, dma());
            case "POOL" -> add(command, kind + " " + named(POOLS, parameter), output().shape(), 0, layer(false));
            case "ELEMENTWISE" ->
                add(command, kind + " " + named(ELEMENTWISE, parameter), output().shape(), 0, pair(parameter));
            default -> add(command, kind, output().shape(), macs(kind.equals("CONV")), layer(true));
        }
    }

    private static String named(List<String> names, int number) {
        return number < names.size() ? names.get(number) : String.valueOf(number);
    }

    private void add(Command command, String kind, String shape, long macs, List<Access> accesses) {
        operations.add(new NpuOperation(operations.size(), command.offset(), kind, shape, macs, accesses));
    }

    private long macs(boolean isDense) {
        long taps = taps("KERNEL_HEIGHT_M1", 4) * taps("KERNEL_WIDTH_M1", 3);
        long depth = isDense ? get("IFM_DEPTH_M1") + 1 : 1;
        FeatureMap output = output();
        return output.height() * output.width() * output.depth() * taps * depth;
    }

    /** Weights of a kernel along an axis: without the gaps of a dilation. */
    private long taps(String register, int dilationBit) {
        return get(register) / ((get("KERNEL_STRIDE") >> dilationBit & 1) + 1) + 1;
    }

    private List<Access> dma() {
        long length = get("DMA0_LEN");
        boolean isInternal = (get("DMA0_DST_REGION") & INTERNAL) != 0;
        List<Access> accesses = new ArrayList<>();
        accesses.add(access(
                isInternal ? NpuOperation.TABLE : "source", get("DMA0_SRC_REGION"), get("DMA0_SRC"), length, false));
        if (!isInternal) {
            accesses.add(access("destination", get("DMA0_DST_REGION"), get("DMA0_DST"), length, true));
        }
        return accesses;
    }

    private List<Access> layer(boolean hasWeights) {
        List<Access> accesses = new ArrayList<>();
        long upscale = get("IFM_UPSCALE") == 0 ? 1 : 2;
        long stride = get("KERNEL_STRIDE");
        long strideX = 1 + (stride & 1) + (stride >> 6 & 7) * 2;
        long strideY = 1 + (stride >> 1 & 1) + (stride >> 9 & 7) * 2;
        FeatureMap output = output();
        // A map that is read enlarged is half as large, and what it has of an odd row or column depends on the padding.
        long height = (output.height() - 1) * strideY
                + get("KERNEL_HEIGHT_M1")
                + 1
                - get("IFM_PAD_TOP")
                - get("IFM_PAD_BOTTOM");
        long width = (output.width() - 1) * strideX
                + get("KERNEL_WIDTH_M1")
                + 1
                - get("IFM_PAD_LEFT")
                - get("IFM_PAD_RIGHT");
        accesses.add(access(map("IFM", height / upscale, width / upscale, get("IFM_DEPTH_M1") + 1), "IFM", false));
        if (hasWeights) {
            boolean isGlobal = (get("OFM_PRECISION") >> 8 & 1) != 0;
            for (int core = 0; core < (get("PARALLEL_MODE") == 0 ? 1 : configuration.cores()); core++) {
                String suffix = core == 0 ? "" : "1";
                accesses.add(access(
                        "weights",
                        get("WEIGHT_REGION"),
                        get("WEIGHT" + suffix + "_BASE"),
                        get("WEIGHT" + suffix + "_LENGTH"),
                        false));
                if (!isGlobal) {
                    accesses.add(access(
                            "scales",
                            get("SCALE_REGION"),
                            get("SCALE" + suffix + "_BASE"),
                            get("SCALE" + suffix + "_LENGTH"),
                            false));
                }
            }
        }
        accesses.add(access(output, "OFM", true));
        return accesses;
    }

    private List<Access> pair(int operation) {
        List<Access> accesses = new ArrayList<>();
        FeatureMap output = output();
        accesses.add(access(map("IFM", output.height(), output.width(), output.depth()), "IFM", false));
        long broadcast = get("IFM2_BROADCAST");
        boolean isScalar = (broadcast >> 7 & 1) != 0;
        boolean isUnary = operation >= FIRST_UNARY && operation <= LAST_UNARY;
        if (!isScalar && !isUnary) {
            accesses.add(access(
                    map(
                            "IFM2",
                            (broadcast & 1) != 0 ? 1 : output.height(),
                            (broadcast >> 1 & 1) != 0 ? 1 : output.width(),
                            (broadcast >> 2 & 1) != 0 ? 1 : output.depth()),
                    "IFM2",
                    false));
        }
        accesses.add(access(output, "OFM", true));
        return accesses;
    }

    private FeatureMap output() {
        return map("OFM", get("OFM_HEIGHT_M1") + 1, get("OFM_WIDTH_M1") + 1, get("OFM_DEPTH_M1") + 1);
    }

    private FeatureMap map(String name, long height, long width, long depth) {
        long precision = get(name + "_PRECISION");
        int size = (int) (precision >> (name.equals("OFM") ? 1 : 2) & 3);
        return new FeatureMap(
                name,
                Math.max(1, height),
                Math.max(1, width),
                depth,
                new Layout(1 << size, (precision >> 6 & 1) != 0),
                new Tiles(
                        get(name + "_WIDTH0_M1") + 1,
                        get(name + "_HEIGHT0_M1") + 1,
                        get(name + "_HEIGHT1_M1") + 1,
                        List.of(
                                get(name + "_BASE0"),
                                get(name + "_BASE1"),
                                get(name + "_BASE2"),
                                get(name + "_BASE3"))),
                new Strides(stride(name + "_STRIDE_X"), stride(name + "_STRIDE_Y"), stride(name + "_STRIDE_C")));
    }

    /** A number with a sign, of as many bits as an address has. */
    private long stride(String register) {
        int unused = Long.SIZE - (configuration.product() == NpuConfiguration.Product.U55 ? 32 : 40);
        return get(register) << unused >> unused;
    }

    private Access access(FeatureMap map, String name, boolean isWritten) {
        Extent extent = map.extent();
        return new Access(name, (int) get(name + "_REGION"), extent.first(), extent.end(), isWritten);
    }

    private static Access access(String what, long region, long first, long length, boolean isWritten) {
        return new Access(what, (int) (region & 0xFF), first, first + length, isWritten);
    }

    /**
     * A feature map as the registers of an operation describe it: up to four tiles, with strides between them.
     *
     * @param name of its registers: {@code IFM}, {@code IFM2} or {@code OFM}
     * @param height number of rows
     * @param width number of columns
     * @param depth number of channels
     * @param layout how its elements lie
     * @param tiles first column and row of the tiles beside and below the first one, and their addresses
     * @param strides bytes from column to column, row to row, and from 16 channels to the next 16
     */
    record FeatureMap(String name, long height, long width, long depth, Layout layout, Tiles tiles, Strides strides) {
        private static final int BRICK = 16;

        /** Bytes of an element, and whether 16 channels of a column lie together (NHCWB16). */
        record Layout(int elementBytes, boolean isBricks) {}

        /** Sizes of the tiles at the left and of the columns at the right, and the addresses of all four. */
        record Tiles(long leftWidth, long leftHeight, long rightHeight, List<Long> bases) {
            Tiles {
                bases = List.copyOf(bases);
            }
        }

        /** Distances in bytes; negative where a map is written from its end. */
        record Strides(long x, long y, long c) {}

        /** First byte and the byte behind the last one, in the map's region. */
        record Extent(long first, long end) {
            /** With what lies some bytes before or behind it, and between. */
            Extent moved(long bytes) {
                return with(new Extent(first + bytes, end + bytes));
            }

            Extent with(Extent other) {
                return new Extent(Math.min(first, other.first), Math.max(end, other.end));
            }
        }

        /** What an operation touches of it, all tiles together. */
        Extent extent() {
            long left = Math.min(width, tiles.leftWidth);
            Extent all = tile(0, left, Math.min(height, tiles.leftHeight));
            if (height > tiles.leftHeight) {
                all = all.with(tile(2, left, height - tiles.leftHeight));
            }
            if (width > left) {
                all = all.with(tile(1, width - left, Math.min(height, tiles.rightHeight)));
                if (height > tiles.rightHeight) {
                    all = all.with(tile(3, width - left, height - tiles.rightHeight));
                }
            }
            return all;
        }

        private Extent tile(int number, long columns, long rows) {
            long base = tiles.bases.get(number);
            return channels(base).moved((rows - 1) * strides.y).moved((columns - 1) * strides.x);
        }

        /** What the channels of a column touch; of bricks, the last one may be smaller than those before. */
        private Extent channels(long base) {
            if (!layout.isBricks || depth <= BRICK) {
                return new Extent(base, base + depth * layout.elementBytes);
            }
            long last = (depth - 1) / BRICK;
            Extent whole = new Extent(base, base + (long) BRICK * layout.elementBytes).moved((last - 1) * strides.c);
            long start = base + last * strides.c;
            return whole.with(new Extent(start, start + ((depth - 1) % BRICK + 1) * layout.elementBytes));
        }

        String shape() {
            return height + "x" + width + "x" + depth;
        }
    }
}
