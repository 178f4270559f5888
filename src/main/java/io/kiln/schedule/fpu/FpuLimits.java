// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import static io.kiln.schedule.fpu.FpuFrame.registers;

import io.kiln.base.DType;
import io.kiln.ir.op.element.Clip;
import io.kiln.lower.FusedOperator;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The limits that {@link FpuFrame} applies to sums before it stores them. */
enum FpuLimits {
    NONE,
    /** At least 0. */
    RELU,
    /** From 0 to a given positive number. */
    CAPPED,
    /** Between any two given numbers, which is left to C. */
    OTHER;

    /** The limits of an operator. */
    static FpuLimits of(FusedOperator op) {
        Optional<Clip> clip = op.clip();
        boolean isBelow = clip.filter(c -> (float) c.max() < Float.MAX_VALUE).isPresent();
        boolean isAbove = clip.filter(c -> (float) c.min() > -Float.MAX_VALUE).isPresent();
        if (!isBelow && !isAbove) {
            return NONE;
        }
        boolean isFromZero = clip.get().min() == 0 && clip.get().max() > 0;
        return isFromZero ? isBelow ? CAPPED : RELU : OTHER;
    }

    /** End of the kernel's name. */
    String suffix() {
        return switch (this) {
            case NONE -> "";
            case RELU -> "_relu";
            case CAPPED -> "_capped";
            case OTHER -> "_limited";
        };
    }

    /** A description for the kernel's comment. */
    private String text() {
        return switch (this) {
            case NONE -> "without limits";
            case RELU -> "from 0 on";
            case CAPPED -> "from 0 to high";
            case OTHER -> "from low to high";
        };
    }

    /** The kernel's last parameters. */
    List<DType> parameters() {
        return switch (this) {
            case NONE, RELU -> List.of();
            case CAPPED -> List.of(DType.FLOAT32);
            case OTHER -> List.of(DType.FLOAT32, DType.FLOAT32);
        };
    }

    /** Their values for an operator. */
    List<Expr> arguments(FusedOperator op) {
        return switch (this) {
            case NONE, RELU -> List.of();
            case CAPPED -> List.of(Exprs.imm((float) op.clip().orElseThrow().max()));
            case OTHER ->
                op.clip().stream()
                        .flatMap(clip -> Stream.of(clip.min(), clip.max()))
                        .map(limit -> Exprs.imm(limit.floatValue()))
                        .map(Expr.class::cast)
                        .toList();
        };
    }

    /** Whether the kernel itself applies them, unless a result is NaN. */
    private boolean areEarly() {
        return this == RELU || this == CAPPED;
    }

    /**
     * A kernel's text with all that the limits add to it.
     *
     * @param stride C name of the elements from one pixel to the next in the output
     */
    KernelText in(KernelText text, int pixels, int channels, String stride) {
        String flag = areEarly() ? "    int32_t is_late;\n" : "";
        String more = areEarly() ? "             0,\n" : "";
        String low = this == OTHER ? "low" : "0.0f";
        String parameters = this == CAPPED ? "    , float high\n" : "    , float low, float high\n";
        return text.with("LIMITS", text())
                .with("LIMIT_PARAMETERS", parameters().isEmpty() ? "" : parameters)
                .with("LATE_FIELDS", flag + (this == CAPPED ? "    float high;\n" : ""))
                .with("LATE_VALUES", more + (this == CAPPED ? "             high,\n" : ""))
                .with("RETURN", areEarly() ? "  if (state.is_late == 0) {\n    return;\n  }\n" : "")
                .with("LIMIT", this == NONE ? "" : loop(pixels, channels, stride, low));
    }

    /**
     * Instructions before all: the upper limit becomes the number whose saturating addition takes all above the limit
     * to the largest integer.
     *
     * @param late offset of the flag that leaves the limits to C; the upper limit follows
     */
    String start(int late) {
        return this == CAPPED ? String.format(Locale.ROOT, """
            ldr r0, [r9, #%1$d]
            mvn r0, r0
            bic r0, r0, #0x80000000
            str r0, [r9, #%1$d]
            """, late + 4) : "";
    }

    /** C loop that applies the limits to the stored results; NaN passes through. */
    private String loop(int pixels, int channels, String stride, String low) {
        String high = this != RELU ? "      value = value > high ? high : value;\n" : "";
        return String.format(Locale.ROOT, """
              for (int32_t p = 0; p < tiles * %d; ++p) {
                for (int32_t c = 0; c < blocks * %d; ++c) {
                  float value = out[p * %s + c];
                  value = value < %s ? %s : value;
            %s\
                  out[p * %s + c] = value;
                }
              }
            """, pixels, channels, stride, low, low, high, stride);
    }

    /**
     * Instructions that store a block's sums at r8 and advance it to the next one.
     *
     * @param late as for {@link #start}
     */
    String stores(int pixels, int channels, int late) {
        String step = pixels > 1 ? "ldr lr, [r9, #20]\n" : "";
        String plain = plain(pixels, channels);
        if (!areEarly()) {
            return step + plain;
        }
        int sum = pixels * channels;
        StringBuilder out = new StringBuilder(String.format(Locale.ROOT, "vmul.f32 s%d, s0, s1\n", sum));
        for (int i = 2; i < sum; i += 2) {
            out.append(String.format(Locale.ROOT, "vfma.f32 s%d, s%d, s%d\n", sum, i, i + 1));
        }
        out.append(step)
                .append(String.format(Locale.ROOT, "vcmp.f32 s%1$d, s%1$d\nvmrs APSR_nzcv, fpscr\nbvs 8f\n", sum));
        out.append(this == CAPPED ? String.format(Locale.ROOT, "ldr r5, [r9, #%d]\n", late + 4) : "")
                .append(limited(pixels, channels));
        return out.append(String.format(Locale.ROOT, "b 9f\n8:\nmov r0, #1\nstr r0, [r9, #%d]\n", late))
                .append(plain)
                .append("9:\n")
                .toString();
    }

    private static String plain(int pixels, int channels) {
        StringBuilder out = new StringBuilder(pixels > 1 ? "add r12, r8, lr\n" : "");
        for (int p = 0; p < pixels; p++) {
            String to = p == 0 ? "r8!" : "r12";
            out.append(String.format(Locale.ROOT, "vstmia %s, %s\n", to, registers(p * channels, channels)));
            out.append(p > 0 && p < pixels - 1 ? "add r12, r12, lr\n" : "");
        }
        return out.toString();
    }

    private String limited(int pixels, int channels) {
        StringBuilder out = new StringBuilder(pixels > 1 ? "add r12, r8, lr\n" : "");
        for (int p = 0; p < pixels; p++) {
            for (int c = 0; c < channels; c += 4) {
                int first = p * channels + c;
                out.append(String.format(Locale.ROOT, "vmov r0, r1, s%d, s%d\n", first, first + 1));
                out.append(String.format(Locale.ROOT, "vmov r2, r3, s%d, s%d\n", first + 2, first + 3));
                for (int i = 0; i < 4; i++) {
                    out.append(String.format(Locale.ROOT, "bic r%1$d, r%1$d, r%1$d, asr #31\n", i));
                    out.append(
                            this == CAPPED
                                    ? String.format(Locale.ROOT, "qadd r%1$d, r%1$d, r5\nsub r%1$d, r%1$d, r5\n", i)
                                    : "");
                }
                out.append(String.format(Locale.ROOT, "stmia %s, {r0-r3}\n", p == 0 ? "r8!" : "r12"));
            }
            out.append(p > 0 && p < pixels - 1 ? "add r12, r12, lr\n" : "");
        }
        return out.toString();
    }
}
