// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A command of the vector unit. It is a word of 32 bits, its code in the lower half and the number of its operands in the upper one, and then
 * its operands, a word each.
 *
 * @param code what it does
 * @param operands in order
 */
record Command(Code code, List<Integer> operands) {
    private static final int HALF = 16;
    private static final int LOWER = 0xffff;

    /** What commands do; the order is that of their codes, from 0. */
    enum Code {
        /** Ends the stream. */
        END(),
        /** Sizes of the images. */
        SHAPE("input rows", "columns", "channels", "output rows", "columns", "channels"),
        /** Sizes of the window. */
        WINDOW("rows", "columns", "stride down", "stride right", "padding above", "padding left"),
        /** Zero points, and the limits of the result. */
        QUANTIZE("input zero", "output zero", "least", "most"),
        /** Computes output channels, as many at once as the unit has lanes. */
        CONVOLVE("first channel", "channels");

        private final List<String> operands;

        Code(String... operands) {
            this.operands = List.of(operands);
        }
    }

    static Command of(Code code, Integer... operands) {
        return new Command(code, List.of(operands));
    }

    private List<Integer> words() {
        List<Integer> words = new ArrayList<>(List.of(code.ordinal() | operands.size() << HALF));
        words.addAll(operands);
        return words;
    }

    /** The stream of some commands, with the end. */
    static List<Integer> stream(List<Command> commands) {
        List<Integer> words = new ArrayList<>();
        commands.forEach(command -> words.addAll(command.words()));
        words.addAll(of(Code.END).words());
        return words;
    }

    /**
     * The commands of a stream, without the end.
     *
     * @throws IllegalArgumentException if it is damaged
     */
    static List<Command> read(List<Integer> words) {
        List<Command> commands = new ArrayList<>();
        int next = 0;
        while (next < words.size()) {
            int head = words.get(next);
            int number = head & LOWER;
            int count = head >>> HALF;
            next++;
            if (number >= Code.values().length
                    || Code.values()[number].operands.size() != count
                    || count > words.size() - next) {
                throw new IllegalArgumentException("word " + (next - 1) + " is no command");
            }
            if (number == Code.END.ordinal()) {
                return commands;
            }
            commands.add(new Command(Code.values()[number], words.subList(next, next + count)));
            next += count;
        }
        throw new IllegalArgumentException("the stream has no end");
    }

    /** The command for people. */
    String text() {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < operands.size(); i++) {
            values.add(code.operands.get(i) + " " + operands.get(i));
        }
        return code.name().toLowerCase(Locale.ROOT) + values.stream().collect(Collectors.joining(", ", " ", ""));
    }

}
