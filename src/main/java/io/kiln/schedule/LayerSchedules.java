// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.schedule.convolution.BlockedConvSchedule;
import io.kiln.schedule.convolution.ConvDirectSchedule;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspWinogradSchedule;
import io.kiln.schedule.convolution.FpuConvSchedule;
import io.kiln.schedule.convolution.MveGemmSchedule;
import io.kiln.schedule.convolution.SharedConvSchedule;
import io.kiln.schedule.convolution.SoftConvSchedule;
import io.kiln.schedule.dense.DotConvSchedule;
import io.kiln.schedule.dense.DspDenseSchedule;
import io.kiln.schedule.dense.FourBitDenseSchedule;
import io.kiln.schedule.dense.SharedDenseSchedule;
import io.kiln.schedule.depthwise.BlockedDepthwiseSchedule;
import io.kiln.schedule.depthwise.DepthwiseDirectSchedule;
import io.kiln.schedule.depthwise.DspColumnDepthwiseSchedule;
import io.kiln.schedule.depthwise.DspDepthwiseSchedule;
import io.kiln.schedule.depthwise.DspLineDepthwiseSchedule;
import io.kiln.schedule.depthwise.DspWindowDepthwiseSchedule;
import io.kiln.schedule.depthwise.FpuDepthwiseSchedule;
import io.kiln.schedule.depthwise.Int16DepthwiseSchedule;
import io.kiln.schedule.depthwise.MveDepthwiseSchedule;
import io.kiln.schedule.depthwise.MveFloatDepthwiseSchedule;
import io.kiln.schedule.depthwise.MveTileSchedule;
import io.kiln.schedule.depthwise.SharedDepthwiseSchedule;
import io.kiln.schedule.depthwise.SmallDepthwiseSchedule;
import io.kiln.schedule.depthwise.SoftDepthwiseSchedule;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The schedules of convolutions and dense layers, and the rules that choose among them if there is no measurement. */
public final class LayerSchedules {
    private static final MveGemmSchedule MVE_GEMM = new MveGemmSchedule("mve_gemm");
    private static final MveDepthwiseSchedule MVE_DEPTHWISE = new MveDepthwiseSchedule("mve_depthwise");
    private static final MveTileSchedule MVE_DEPTHWISE_TILE = new MveTileSchedule("mve_depthwise_tile");
    private static final SharedConvSchedule DSP_CONV_SHARED = new SharedConvSchedule("dsp_conv_shared");
    private static final SharedDepthwiseSchedule DSP_DEPTHWISE_SHARED =
            new SharedDepthwiseSchedule("dsp_depthwise_shared");
    private static final SharedDenseSchedule DSP_DENSE_SHARED = new SharedDenseSchedule("dsp_dense_shared");
    private static final FourBitDenseSchedule DENSE_FOUR_BITS = new FourBitDenseSchedule("dense_four_bits");
    private static final SmallDepthwiseSchedule DEPTHWISE_SMALL = new SmallDepthwiseSchedule("depthwise_small");
    private static final BlockedDepthwiseSchedule DEPTHWISE_BLOCKED = new BlockedDepthwiseSchedule("depthwise_blocked");
    private static final BlockedConvSchedule CONV_BLOCKED = new BlockedConvSchedule("conv_blocked");
    private static final DspColumnDepthwiseSchedule DSP_DEPTHWISE_COLUMN =
            new DspColumnDepthwiseSchedule("dsp_depthwise_column");
    private static final DspDepthwiseSchedule DSP_DEPTHWISE = new DspDepthwiseSchedule("dsp_depthwise");
    private static final DspLineDepthwiseSchedule DSP_DEPTHWISE_LINE =
            new DspLineDepthwiseSchedule("dsp_depthwise_line");
    private static final DspWindowDepthwiseSchedule DSP_DEPTHWISE_WINDOW =
            new DspWindowDepthwiseSchedule("dsp_depthwise_window");
    private static final DspDenseSchedule DSP_DENSE = new DspDenseSchedule("dsp_dense");
    private static final DspWinogradSchedule DSP_WINOGRAD = new DspWinogradSchedule("dsp_winograd");
    private static final DspConvSchedule DSP_CONV = new DspConvSchedule("dsp_conv");
    private static final DotConvSchedule MVE_CONV16 = new DotConvSchedule("mve_conv16");
    private static final DotConvSchedule DSP_CONV16 = new DotConvSchedule("dsp_conv16");
    private static final DotConvSchedule DSP_CONV16_BYTES = new DotConvSchedule("dsp_conv16_bytes");
    private static final DotConvSchedule CONV16 = new DotConvSchedule("conv16");
    private static final Int16DepthwiseSchedule MVE_DEPTHWISE16 = new Int16DepthwiseSchedule("mve_depthwise16");
    private static final Int16DepthwiseSchedule DSP_DEPTHWISE16 = new Int16DepthwiseSchedule("dsp_depthwise16");
    private static final Int16DepthwiseSchedule THUMB_DEPTHWISE16 = new Int16DepthwiseSchedule("thumb_depthwise16");
    private static final Int16DepthwiseSchedule DEPTHWISE16 = new Int16DepthwiseSchedule("depthwise16");
    private static final DotConvSchedule MVE_CONV_FLOAT = new DotConvSchedule("mve_conv_float");
    private static final MveFloatDepthwiseSchedule MVE_DEPTHWISE_FLOAT =
            new MveFloatDepthwiseSchedule("mve_depthwise_float");
    private static final FpuConvSchedule FPU_CONV = new FpuConvSchedule("fpu_conv");
    private static final FpuDepthwiseSchedule FPU_DEPTHWISE = new FpuDepthwiseSchedule("fpu_depthwise");
    private static final TransposedSchedule CONV_PHASES = new TransposedSchedule("conv_phases");
    private static final SoftConvSchedule SOFT_CONV = new SoftConvSchedule("soft_conv");
    private static final SoftDepthwiseSchedule SOFT_DEPTHWISE = new SoftDepthwiseSchedule("soft_depthwise");
    private static final DepthwiseDirectSchedule DEPTHWISE_DIRECT = new DepthwiseDirectSchedule("depthwise_direct");
    private static final ConvDirectSchedule CONV_DIRECT = new ConvDirectSchedule("conv_direct");

    /** All of them. */
    static final List<Schedule<?>> ALL = List.of(
            MVE_GEMM,
            MVE_DEPTHWISE,
            MVE_DEPTHWISE_TILE,
            DENSE_FOUR_BITS,
            DSP_CONV_SHARED,
            DSP_DEPTHWISE_SHARED,
            DSP_DENSE_SHARED,
            DEPTHWISE_SMALL,
            DEPTHWISE_BLOCKED,
            CONV_BLOCKED,
            DSP_DEPTHWISE_COLUMN,
            DSP_DEPTHWISE,
            DSP_DEPTHWISE_LINE,
            DSP_DEPTHWISE_WINDOW,
            DSP_DENSE,
            DSP_WINOGRAD,
            DSP_CONV,
            MVE_CONV16,
            DSP_CONV16,
            DSP_CONV16_BYTES,
            CONV16,
            MVE_DEPTHWISE16,
            DSP_DEPTHWISE16,
            THUMB_DEPTHWISE16,
            DEPTHWISE16,
            MVE_CONV_FLOAT,
            MVE_DEPTHWISE_FLOAT,
            FPU_CONV,
            FPU_DEPTHWISE,
            CONV_PHASES,
            SOFT_CONV,
            SOFT_DEPTHWISE,
            DEPTHWISE_DIRECT,
            CONV_DIRECT);

    /** The first rule that accepts its schedule decides; one of the last two always does. */
    private static final List<ScheduleRule> RULES = List.of(
            MVE_GEMM::choose,
            MVE_DEPTHWISE_TILE::choose,
            MVE_DEPTHWISE::choose,
            DENSE_FOUR_BITS::choose,
            DSP_CONV_SHARED::choose,
            DSP_DEPTHWISE_SHARED::choose,
            DSP_DENSE_SHARED::choose,
            DSP_CONV::chooseFourBits,
            DEPTHWISE_BLOCKED::chooseForSize,
            DEPTHWISE_SMALL::choose,
            DEPTHWISE_BLOCKED::choose,
            CONV_BLOCKED::choose,
            DSP_DEPTHWISE_COLUMN::choose,
            DSP_DEPTHWISE_LINE::chooseApart,
            DSP_DEPTHWISE::choose,
            DSP_DEPTHWISE_LINE::choose,
            DSP_DEPTHWISE_WINDOW::choose,
            DEPTHWISE_BLOCKED::chooseForDsp,
            DSP_DENSE::choose,
            DSP_WINOGRAD::choose,
            DSP_CONV::choose,
            MVE_CONV16::choose,
            DSP_CONV16::choose,
            DSP_CONV16_BYTES::choose,
            CONV16::choose,
            MVE_DEPTHWISE16::choose,
            DSP_DEPTHWISE16::choose,
            THUMB_DEPTHWISE16::choose,
            DEPTHWISE16::choose,
            MVE_CONV_FLOAT::choose,
            MVE_DEPTHWISE_FLOAT::choose,
            FPU_CONV::choose,
            FPU_DEPTHWISE::choose,
            CONV_PHASES::choose,
            SOFT_CONV::choose,
            SOFT_DEPTHWISE::choose,
            DEPTHWISE_DIRECT::choose,
            CONV_DIRECT::choose);

    private static final ScheduleRule ONLY_CONVOLUTION = DSP_CONV::chooseOnly;

    private static final ScheduleRule SMALL_CONVOLUTION = DSP_CONV_SHARED::chooseSmall;

    private LayerSchedules() {}

    /** The schedules that apply to a layer on its core, with their spaces. */
    public static List<Space> spaces(Workload workload) {
        LoopCode loops = new LoopCode(workload);
        return ALL.stream()
                .flatMap(schedule -> space(schedule, workload, loops).stream())
                .toList();
    }

    private static <E> Optional<Space> space(Schedule<E> schedule, Workload workload, LoopCode loops) {
        return schedule.applies(workload).map(evidence -> loops.fitting(schedule, evidence));
    }

    /** The choice of a given configuration; empty if it is not in the layer's spaces. */
    public static Optional<Choice<?>> choice(Workload workload, Configuration configuration, String reason) {
        Optional<Choice<?>> found = ALL.stream()
                .filter(schedule -> schedule.name().equals(configuration.schedule()))
                .findFirst()
                .flatMap(schedule -> Choice.of(schedule, workload, configuration, reason));
        return found.filter(new LoopCode(workload)::fits);
    }

    /** The choice for a model's only convolution; empty if the rules are as good. */
    static Optional<Choice<?>> chooseOnly(Workload workload) {
        return ONLY_CONVOLUTION.choose(workload).map(new LoopCode(workload)::fitted);
    }

    /** The choice for a convolution that is a small part of a model; empty if there is none. */
    static Optional<Choice<?>> chooseSmall(Workload workload) {
        return SMALL_CONVOLUTION
                .choose(workload)
                .<Choice<?>>map(choice -> choice)
                .filter(new LoopCode(workload)::fits);
    }

    /** The choice of the rules for a layer. */
    public static Choice<?> choose(Workload workload) {
        LoopCode loops = new LoopCode(workload);
        List<Choice<?>> choices = new ArrayList<>();
        for (ScheduleRule rule : RULES) {
            Optional<? extends Choice<?>> choice = rule.choose(workload);
            if (choice.isPresent()) {
                Choice<?> fitted = loops.fitted(choice.get());
                if (loops.fits(fitted)) {
                    // Plain loops are slower than waiting for code.
                    return isPlain(fitted) && !choices.isEmpty() ? choices.get(0) : fitted;
                }
                choices.add(fitted);
            }
        }
        return choices.stream()
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no rule takes a schedule for " + workload.conv().op().name()));
    }

    /** Whether a layer runs in plain loops. */
    static boolean isPlain(Choice<?> choice) {
        return choice.schedule() == CONV_DIRECT || choice.schedule() == DEPTHWISE_DIRECT;
    }

    /** Decides, if there is no measurement, when a schedule is chosen, in which configuration and why. */
    @FunctionalInterface
    interface ScheduleRule {
        /** The choice for a layer, if the rule accepts its schedule. */
        Optional<? extends Choice<?>> choose(Workload workload);
    }
}
