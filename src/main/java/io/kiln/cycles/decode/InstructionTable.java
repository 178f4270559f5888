// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Encodings of instructions of one width, from a table among the resources. A line has five columns: encoding, kind, registers written,
 * registers read, registers that form an address; {@code -} stands for none, and {@code #} begins a comment. The first line that fits an
 * instruction counts.
 *
 * <p>The encoding has a character for each bit, highest first: {@code 0}, {@code 1}, or the letter of a field (bits of the same letter
 * are one number). Registers are:
 *
 * <ul>
 *   <li>a field's letter: the core register of that number; {@code d'}: of that number plus 8
 *   <li>{@code {14}}: the core register of that number
 *   <li>{@code list}: the bits of field {@code r}, with register 14 if field {@code L} is set and 15 if {@code P} is
 *   <li>{@code Sd}: the floating-point register of 32 bits whose lowest bit is field {@code D}; {@code Dd}: of 64 bits, whose highest bit
 *       is field {@code D}; {@code Qd}: the vector with that as its lowest half; {@code Sd.i}: as many words from there on as field
 *       {@code i} says, {@code Sd.2}: two
 *   <li>{@code !} after an address: the base is written; it is also written if a field {@code w} is set
 * </ul>
 */
final class InstructionTable {
    private static final String FOLDER = "cycles";

    private final int bytes;
    private final List<Encoding> encodings;

    private InstructionTable(int bytes, List<Encoding> encodings) {
        this.bytes = bytes;
        this.encodings = List.copyOf(encodings);
    }

    /** Reads tables, in this order. */
    static InstructionTable of(int bytes, String... files) {
        Map<String, Bytes> all = ResourceTree.read(FOLDER);
        List<Encoding> encodings = new ArrayList<>();
        for (String file : files) {
            all.get(file)
                    .text()
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> Encoding.parse(file, line, 8 * bytes))
                    .forEach(encodings::add);
        }
        return new InstructionTable(bytes, encodings);
    }

    /** Kinds that the table knows. */
    List<InstructionKind> kinds() {
        return encodings.stream().map(Encoding::kind).distinct().toList();
    }

    /**
     * Decodes an instruction by the first line that fits.
     *
     * @param address of the instruction
     * @param bits its encoding
     */
    Instruction decode(long address, int bits) {
        Optional<Encoding> found =
                encodings.stream().filter(encoding -> encoding.fits(bits)).findFirst();
        return found.map(encoding -> encoding.instruction(address, bytes, bits))
                .orElseGet(
                        () -> new Instruction(address, bytes, InstructionKind.UNKNOWN, 0, Instruction.Registers.NONE));
    }
}
