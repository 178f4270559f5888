// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.tuning.record.RecordFiles.ShippedRecords;
import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The costs of the records that come with Kiln are no lower than the products of their layers can cost: an instruction makes at most two
 * products, and one of MVE 16, for which a Cortex-M55 takes two cycles.
 */
class ShippedCostsTest {
    private static final double NANOSECONDS = 1e9;

    /** A tile of 2x2 results takes 16 products in place of 36. */
    private static final double WINOGRAD = 36.0 / 16;

    private static List<Long> numbers(RecordValue value) {
        return ((Items) value)
                .values().stream()
                        .map(item -> ((Numeric) item).integer().orElseThrow())
                        .toList();
    }

    private static List<Long> shape(RecordValue tensor) {
        return numbers(((Items) tensor).values().get(1));
    }

    /** Taps inside the input along an axis, of all windows. */
    private static long inside(long size, long kernel, long stride, long before, long after, long dilation) {
        long taps = 0;
        for (long first = -before; first + (kernel - 1) * dilation < size + after; first += stride) {
            for (long tap = 0; tap < kernel; tap++) {
                long at = first + tap * dilation;
                taps += at >= 0 && at < size ? 1 : 0;
            }
        }
        return taps;
    }

    /** Multiply-accumulates of a layer's task. */
    private static long products(TaskKey task) {
        List<RecordValue> args = task.args();
        List<Long> input = shape(args.get(0));
        List<Long> weight = shape(args.get(1));
        if (input.size() == 2) {
            return input.get(0) * weight.get(0) * weight.get(1);
        }
        boolean isDepthwise = task.template().startsWith("kiln.depthwise_conv2d.");
        List<Long> kernel = isDepthwise ? weight.subList(0, 2) : weight.subList(1, 3);
        List<Long> strides = numbers(args.get(2));
        List<Long> padding = numbers(args.get(3));
        List<Long> dilation = numbers(args.get(4));
        long taps = 1;
        for (int axis = 0; axis < 2; axis++) {
            taps *= inside(
                    input.get(1 + axis),
                    kernel.get(axis),
                    strides.get(axis),
                    padding.get(axis),
                    padding.get(2 + axis),
                    dilation.get(axis));
        }
        long channels = isDepthwise ? weight.get(2) * weight.get(3) : weight.get(0) * weight.get(3);
        return input.get(0) * taps * channels;
    }

    private static boolean isWinograd(TuningRecord record) {
        return record.config().entities().stream()
                .anyMatch(entity ->
                        entity.value() instanceof Text text && text.value().contains("winograd"));
    }

    private static double least(TuningRecord record, double mostProducts) {
        return products(record.task()) / mostProducts / (isWinograd(record) ? WINOGRAD : 1);
    }

    @ParameterizedTest
    @CsvSource({
        "cortex-m3, cycles, 2",
        "cortex-m4, cycles, 2",
        "cortex-m55, cycles, 8",
        "rv32imac, cycles, 2",
        "cortex-m3, instructions, 2",
        "cortex-m4, instructions, 2",
        "cortex-m55, instructions, 16",
        "rv32imac, instructions, 2"
    })
    void noRecordIsFasterThanItsProducts(String core, String objective, double mostProducts) {
        assertThat(ShippedRecords.of(core, objective))
                .isNotEmpty()
                .allSatisfy(record -> assertThat(record.result().mean() * NANOSECONDS)
                        .as(record.task().workload())
                        .isGreaterThanOrEqualTo(least(record, mostProducts)));
    }

    @Test
    void windowsAtTheBordersHaveFewerTaps() {
        assertThat(inside(3, 3, 1, 1, 1, 1)).isEqualTo(2 + 3 + 2);
        assertThat(inside(6, 3, 2, 0, 1, 1)).isEqualTo(3 + 3 + 2);
        assertThat(inside(5, 1, 1, 0, 0, 1)).isEqualTo(5);
    }
}
