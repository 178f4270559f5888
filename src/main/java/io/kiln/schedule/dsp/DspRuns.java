// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;

/**
 * Widens runs of inputs, each filled up to whole fours.
 *
 * @param run inputs of a run
 * @param columns runs next to each other, and their distance
 * @param rows rows of runs, and their distance
 * @param pitch bytes from a pixel's inputs to the next one's
 * @param isInPlace whether {@link DspInPlaceAsm} widens inputs where it multiplies them
 */
record DspRuns(int run, Spaced columns, Spaced rows, int pitch, boolean isInPlace) implements DspWidening {
    /**
     * Repetition at a constant distance.
     *
     * @param count how many
     * @param distance bytes from one to the next
     */
    record Spaced(int count, int distance) {
        private static final Spaced ONE = new Spaced(1, 0);
    }

    /** Fours of inputs of both pixels that take straight code, and how many more a loop has. */
    private static final int STRAIGHT = 8;

    /** One run, of at least four inputs. */
    static DspRuns single(int run, int pitch) {
        return new DspRuns(run, Spaced.ONE, Spaced.ONE, pitch, false);
    }

    private boolean isSingle() {
        return columns.count == 1 && rows.count == 1;
    }

    /** Inputs of a run in fours. */
    int filled() {
        return (run + 3) / 4 * 4;
    }

    @Override
    public String suffix() {
        String grid = isSingle()
                ? ""
                : "_" + rows.count + "x" + columns.count + "_of" + run + "_" + rows.distance + "_" + columns.distance;
        return "run" + grid + "_step" + pitch + (isInPlace ? "_in_place" : "");
    }

    @Override
    public int inputs() {
        return isSingle() ? run : rows.count * columns.count * filled();
    }

    @Override
    public String place() {
        String run = "i / " + filled();
        return isSingle()
                ? "i"
                : run + " / " + columns.count + " * " + rows.distance + " + " + run + " % " + columns.count + " * "
                        + columns.distance + " + i % " + filled();
    }

    @Override
    public String places() {
        return "";
    }

    private int rounds() {
        int fours = run / 4;
        return fours >= 2 * STRAIGHT ? fours / STRAIGHT : 0;
    }

    @Override
    public boolean movesScratch() {
        return rounds() > 0 || !isSingle();
    }

    @Override
    public void emit(AsmText asm, Form form) {
        begin(asm, rows, "r12", "6");
        begin(asm, columns, "lr", "5");
        run(asm, form);
        int pixels = form.pixels();
        if (!isSingle() && !form.isStoredTogether()) {
            asm.line("add r0, #%d", FOUR_BYTES * (filled() / 4 - rounds() * STRAIGHT));
        }
        int moved = 4 * STRAIGHT * rounds();
        if (columns.count > 1) {
            end(asm, pixels, columns.distance - moved, "lr", "5");
            moved = columns.count * columns.distance;
        }
        if (rows.count > 1) {
            end(asm, pixels, rows.distance - moved, "r12", "6");
        }
    }

    private static void begin(AsmText asm, Spaced spaced, String register, String label) {
        if (spaced.count > 1) {
            asm.line("mov %s, #%d", register, spaced.count);
            asm.line("%s:", label);
        }
    }

    private static void end(AsmText asm, int pixels, int distance, String register, String label) {
        for (int pixel = 0; pixel < pixels; pixel++) {
            asm.line("%s r%d, #%d", distance < 0 ? "sub" : "add", 2 + pixel, Math.abs(distance));
        }
        asm.line("subs %s, #1", register);
        asm.line("bne %sb", label);
    }

    private void run(AsmText asm, Form form) {
        int fours = run / 4 - rounds() * STRAIGHT;
        if (rounds() > 0) {
            asm.line("mov r1, #%d", rounds());
            asm.line("4:");
            fours(asm, form, STRAIGHT);
            if (!form.isStoredTogether()) {
                asm.line("add r0, #%d", FOUR_BYTES * STRAIGHT);
            }
            asm.line("add r2, #%d", 4 * STRAIGHT);
            asm.line("add r3, #%d", 4 * STRAIGHT);
            asm.line("subs r1, #1");
            asm.line("bne 4b");
        }
        fours(asm, form, fours);
        int rest = run % 4;
        if (rest > 0) {
            rest(asm, form, fours, rest);
        }
    }

    private static void fours(AsmText asm, Form form, int count) {
        for (int i = 0; i < count; i += 2) {
            int together = Math.min(2, count - i);
            for (int k = 0; k < together; k++) {
                for (int pixel = 0; pixel < form.pixels(); pixel++) {
                    asm.line("ldr r%d, [r%d, #%d]", form.loaded(k) + pixel, 2 + pixel, 4 * (i + k));
                }
            }
            for (int k = 0; k < together; k++) {
                form.widen(asm, k);
            }
            for (int k = 0; k < together; k++) {
                form.store(asm, k, i + k);
            }
        }
    }

    /** The last inputs of a run: the bytes that a word at its end has before them are shifted out. */
    private static void rest(AsmText asm, Form form, int fours, int rest) {
        int first = form.loaded(0);
        for (int pixel = 0; pixel < form.pixels(); pixel++) {
            asm.line("ldr r%d, [r%d, #%d]", first + pixel, 2 + pixel, 4 * fours + rest - 4);
        }
        for (int pixel = 0; pixel < form.pixels(); pixel++) {
            asm.line("lsr r%d, r%d, #%d", first + pixel, first + pixel, 8 * (4 - rest));
        }
        form.widen(asm, 0);
        form.store(asm, 0, fours);
    }
}
