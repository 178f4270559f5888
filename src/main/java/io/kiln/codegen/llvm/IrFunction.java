// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import java.util.HashMap;
import java.util.Map;

/**
 * Collects the text of a function's body in LLVM IR. Results of instructions are numbered in the order of the text, as LLVM
 * demands; names of blocks and of variables are those of the loop IR, with a number behind a dot where one occurs again. Mutable
 * variables are memory of the first block, which LLVM turns into registers.
 */
final class IrFunction {
    /** The first block. */
    static final String ENTRY = "entry";

    private final StringBuilder slots = new StringBuilder();
    private final StringBuilder body = new StringBuilder();
    private final Map<String, Integer> names = new HashMap<>();
    private String block = ENTRY;
    private int next;

    IrFunction() {
        unique(ENTRY);
    }

    /** A name that occurs once in the function. */
    String unique(String name) {
        int number = names.merge(name, 1, Integer::sum);
        return number == 1 ? name : name + "." + (number - 1);
    }

    /** Adds an instruction with a result; returns the result's name. */
    String result(String instruction) {
        String name = "%" + next++;
        line(name + " = " + instruction);
        return name;
    }

    /** Adds an instruction without a result. */
    void line(String instruction) {
        body.append("  ").append(instruction).append('\n');
    }

    /** Ends the block with a jump. */
    void jump(String target) {
        line("br label %" + target);
    }

    /** Begins a block. */
    void begin(String label) {
        body.append('\n').append(label).append(":\n");
        block = label;
    }

    /** Ends the block with a jump to the next one, and begins that. */
    void fallInto(String label) {
        jump(label);
        begin(label);
    }

    /** The block to which instructions are added. */
    String block() {
        return block;
    }

    /** Memory of a mutable variable; returns its address. */
    String slot(String variable, String type, int alignment) {
        String name = "%" + unique(variable);
        slots.append("  ")
                .append(name)
                .append(" = alloca ")
                .append(type)
                .append(", align ")
                .append(alignment)
                .append('\n');
        return name;
    }

    /** The text of all blocks. */
    String text() {
        return ENTRY + ":\n" + slots + body;
    }
}
