// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.ScalarRescale;
import java.util.Optional;

/**
 * {@link BlockedRiscV} with {@link WeightPairs}. Four taps of three pixels and four channels are 86 instructions for 48 products: 20
 * loads, 24 MUL, 18 ADD, and 24 to add the sums of four products to those of all, as in {@link PairSumsRiscV}.
 *
 * @param pixels pixels of a block
 * @param channels channels of a block; even
 * @param pairs the weights
 */
record BlockedPairsRiscV(int pixels, int channels, WeightPairs pairs) implements BlockedAssembly {
    private BlockedRiscVRegisters registers() {
        return new BlockedRiscVRegisters(pixels, channels);
    }

    /** Words of weights of a tap. */
    private int words() {
        return channels / 2;
    }

    /** The register for the sum of some products of two channels. */
    private String some(int pixel, int word) {
        return registers().left(words()).get(1 + words() * pixel + word);
    }

    /** The register for half of a second weight's unit. */
    private String half() {
        return registers().left(words()).get(0);
    }

    @Override
    public String condition() {
        return AsmText.RV32_MUL;
    }

    @Override
    public Optional<WeightPairs> weightPairs() {
        return Optional.of(pairs);
    }

    @Override
    public boolean shiftsSums() {
        return true;
    }

    @Override
    public String lines(ScalarRescale rescale) {
        AsmText asm = new AsmText();
        BlockedRiscV block = new BlockedRiscV(pixels, channels, 1, false, false);
        block.enter(asm, rescale);
        asm.line("1:");
        block.firstInputs(asm);
        block.end(asm);
        asm.line("li %s, %d", half(), 1 << (pairs.bits() - 1));
        for (int c = 0; c < channels; c++) {
            for (int p = 0; p < pixels; p++) {
                asm.line("li %s, 0", registers().sum(c, p));
            }
        }
        asm.line("3:");
        int first = 0;
        for (int part : pairs.parts()) {
            part(asm, first, part);
            first += part;
        }
        int taps = pairs.taps();
        for (int p = 0; p < pixels; p++) {
            asm.line("addi %s, %s, %d", registers().input(p), registers().input(p), taps);
        }
        asm.line("addi %s, %s, %d", registers().weights(), registers().weights(), 4 * words() * taps);
        asm.line("bne %s, %s, 3b", registers().input(0), registers().end());
        for (int c = 0; c < channels; c += 2) {
            for (int p = 0; p < pixels; p++) {
                asm.line("slli %s, %s, %d", registers().product(), registers().sum(c + 1, p), pairs.bits());
                asm.line(
                        "sub %s, %s, %s",
                        registers().sum(c, p),
                        registers().sum(c, p),
                        registers().product());
            }
        }
        block.rescale(asm, rescale.correction());
        block.store(asm, rescale);
        return asm.lines();
    }

    private void part(AsmText asm, int first, int taps) {
        for (int tap = first; tap < first + taps; tap++) {
            for (int i = 0; i < words(); i++) {
                asm.line(
                        "lw %s, %d(%s)",
                        registers().weight(i),
                        4 * (words() * tap + i),
                        registers().weights());
            }
            for (int p = 0; p < pixels; p++) {
                asm.line("lb %s, %d(%s)", registers().value(), tap, registers().input(p));
                for (int i = 0; i < words(); i++) {
                    multiply(asm, some(p, i), registers().weight(i), tap == first);
                }
            }
        }
        for (int p = 0; p < pixels; p++) {
            for (int i = 0; i < words(); i++) {
                PairSumsRiscV.Sums sums = new PairSumsRiscV.Sums(
                        some(p, i), registers().sum(2 * i + 1, p), registers().sum(2 * i, p));
                PairSumsRiscV.takeOver(asm, pairs, sums, registers().product(), half());
            }
        }
    }

    private void multiply(AsmText asm, String sum, String weight, boolean starts) {
        asm.line(
                "mul %s, %s, %s",
                starts ? sum : registers().product(), registers().value(), weight);
        if (!starts) {
            asm.line("add %s, %s, %s", sum, sum, registers().product());
        }
    }
}
