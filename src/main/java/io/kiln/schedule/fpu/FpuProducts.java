// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Instructions of a step: loads, and products that are added to sums. A share of the products, evenly spread, is multiplied and
 * added by two instructions. The addition follows behind the next product, so that it does not wait.
 */
final class FpuProducts {
    /** A line of the step: an instruction of its own, or a product. */
    private sealed interface Line {}

    private record Load(String text) implements Line {}

    private record Product(int sum, int value, int weight) implements Line {}

    private final List<Line> lines = new ArrayList<>();
    private final int unfused;
    private final int free;

    /**
     * An empty step.
     *
     * @param unfused percent of the products with an addition of their own
     * @param free first register for products; a second one is used above half of the products
     */
    FpuProducts(int unfused, int free) {
        this.unfused = unfused;
        this.free = free;
    }

    /** Loads registers from where a core register points to. */
    void load(String from, int first, int count) {
        lines.add(new Load(String.format(Locale.ROOT, "vldmia %s, %s\n", from, FpuFrame.registers(first, count))));
    }

    /** Adds the product of two registers to a third one. */
    void add(int sum, int value, int weight) {
        lines.add(new Product(sum, value, weight));
    }

    /** The instructions. */
    String text() {
        int all = (int) lines.stream().filter(Product.class::isInstance).count();
        int apart = Math.round(all * unfused / 100f);
        StringBuilder out = new StringBuilder();
        String pending = "";
        int number = 0;
        int separate = 0;
        for (Line line : lines) {
            if (line instanceof Load load) {
                out.append(load.text);
                continue;
            }
            Product one = (Product) line;
            if (number * apart % all < apart) {
                int register = free + (2 * apart > all ? separate % 2 : 0);
                out.append(String.format(Locale.ROOT, "vmul.f32 s%d, s%d, s%d\n", register, one.value, one.weight))
                        .append(pending);
                pending = String.format(Locale.ROOT, "vadd.f32 s%1$d, s%1$d, s%2$d\n", one.sum, register);
                separate++;
            } else {
                out.append(String.format(Locale.ROOT, "vfma.f32 s%d, s%d, s%d\n", one.sum, one.value, one.weight))
                        .append(pending);
                pending = "";
            }
            number++;
        }
        return out.append(pending).toString();
    }
}
