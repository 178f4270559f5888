// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Names of the commands of U55 and U65, as Arm's public register description has them. */
final class CommandNames {
    /** Commands that start an operation. */
    static final Set<String> STARTS = Set.of("CONV", "DEPTHWISE", "POOL", "ELEMENTWISE", "DMA_START");

    static final String STOP = "STOP";

    private static final Map<Integer, String> NARROW = narrow();
    private static final Map<Integer, String> WIDE = wide();

    private CommandNames() {}

    private static Map<Integer, String> narrow() {
        Map<Integer, String> names = new HashMap<>();
        put(names, 0x000, STOP, "IRQ", "CONV", "DEPTHWISE", "", "POOL", "ELEMENTWISE");
        put(names, 0x010, "DMA_START", "DMA_WAIT", "KERNEL_WAIT", "PMU_MASK");
        put(
                names,
                0x100,
                "SET_IFM_PAD_TOP",
                "SET_IFM_PAD_LEFT",
                "SET_IFM_PAD_RIGHT",
                "SET_IFM_PAD_BOTTOM",
                "SET_IFM_DEPTH_M1",
                "SET_IFM_PRECISION",
                "",
                "SET_IFM_UPSCALE",
                "",
                "SET_IFM_ZERO_POINT",
                "SET_IFM_WIDTH0_M1",
                "SET_IFM_HEIGHT0_M1",
                "SET_IFM_HEIGHT1_M1",
                "SET_IFM_IB_END",
                "",
                "SET_IFM_REGION");
        put(
                names,
                0x111,
                "SET_OFM_WIDTH_M1",
                "SET_OFM_HEIGHT_M1",
                "SET_OFM_DEPTH_M1",
                "SET_OFM_PRECISION",
                "SET_OFM_BLK_WIDTH_M1",
                "SET_OFM_BLK_HEIGHT_M1",
                "SET_OFM_BLK_DEPTH_M1",
                "SET_OFM_ZERO_POINT",
                "",
                "SET_OFM_WIDTH0_M1",
                "SET_OFM_HEIGHT0_M1",
                "SET_OFM_HEIGHT1_M1",
                "",
                "",
                "SET_OFM_REGION",
                "SET_KERNEL_WIDTH_M1",
                "SET_KERNEL_HEIGHT_M1",
                "SET_KERNEL_STRIDE",
                "SET_PARALLEL_MODE",
                "SET_ACC_FORMAT",
                "SET_ACTIVATION",
                "SET_ACTIVATION_MIN",
                "SET_ACTIVATION_MAX",
                "SET_WEIGHT_REGION",
                "SET_SCALE_REGION");
        put(names, 0x12D, "SET_AB_START", "", "SET_BLOCKDEP", "SET_DMA0_SRC_REGION", "SET_DMA0_DST_REGION");
        put(names, 0x132, "SET_DMA0_SIZE0", "SET_DMA0_SIZE1");
        put(names, 0x180, "SET_IFM2_BROADCAST", "SET_IFM2_SCALAR", "", "", "", "SET_IFM2_PRECISION");
        put(names, 0x189, "SET_IFM2_ZERO_POINT", "SET_IFM2_WIDTH0_M1", "SET_IFM2_HEIGHT0_M1", "SET_IFM2_HEIGHT1_M1");
        put(names, 0x18D, "SET_IFM2_IB_START", "", "SET_IFM2_REGION");
        return Map.copyOf(names);
    }

    private static Map<Integer, String> wide() {
        Map<Integer, String> names = new HashMap<>();
        map(names, "IFM", 0x000);
        map(names, "OFM", 0x010);
        put(
                names,
                0x020,
                "SET_WEIGHT_BASE",
                "SET_WEIGHT_LENGTH",
                "SET_SCALE_BASE",
                "SET_SCALE_LENGTH",
                "SET_OFM_SCALE");
        put(names, 0x025, "SET_OPA_SCALE", "SET_OPB_SCALE");
        put(names, 0x030, "SET_DMA0_SRC", "SET_DMA0_DST", "SET_DMA0_LEN", "SET_DMA0_SKIP0", "SET_DMA0_SKIP1");
        map(names, "IFM2", 0x080);
        put(names, 0x090, "SET_WEIGHT1_BASE", "SET_WEIGHT1_LENGTH", "SET_SCALE1_BASE", "SET_SCALE1_LENGTH");
        return Map.copyOf(names);
    }

    private static void map(Map<Integer, String> names, String map, int first) {
        put(
                names,
                first,
                "SET_" + map + "_BASE0",
                "SET_" + map + "_BASE1",
                "SET_" + map + "_BASE2",
                "SET_" + map + "_BASE3",
                "SET_" + map + "_STRIDE_X",
                "SET_" + map + "_STRIDE_Y",
                "SET_" + map + "_STRIDE_C");
    }

    private static void put(Map<Integer, String> names, int first, String... all) {
        for (int i = 0; i < all.length; i++) {
            if (!all[i].isEmpty()) {
                names.put(first + i, all[i]);
            }
        }
    }

    static String of(boolean isWide, int opcode) {
        return (isWide ? WIDE : NARROW).getOrDefault(opcode, "");
    }

    /** Whether a wide register has 40 bits: all but the scales, whose parameter is a shift. */
    static boolean isAddress(int opcode) {
        return opcode < 0x024 || opcode > 0x026;
    }
}
