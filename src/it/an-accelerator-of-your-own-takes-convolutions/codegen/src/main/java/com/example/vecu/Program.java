// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.base.Bytes;
import io.kiln.module.ModuleReader;
import io.kiln.module.ModuleWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The command stream of one function, as the payload of the archive has it.
 *
 * @param function its C name
 * @param words the stream
 */
record Program(String function, List<Integer> words) {
    Program {
        words = List.copyOf(words);
    }

    /** The file: a count, then each function's name, number of words and words. */
    static Bytes write(List<Program> programs) {
        ModuleWriter out = new ModuleWriter().u64(programs.size());
        for (Program program : programs) {
            out.string(program.function).u64(program.words.size());
            program.words.forEach(out::u32);
        }
        return out.bytes();
    }

    /**
     * Reads a file.
     *
     * @throws io.kiln.base.KilnException with the offset of what is wrong
     */
    static List<Program> read(Bytes file, String name) {
        ModuleReader in = new ModuleReader(file, name);
        List<Program> programs = new ArrayList<>();
        int count = in.count(2 * Long.BYTES, "functions");
        for (int i = 0; i < count; i++) {
            String function = in.text("name of a function");
            int size = in.count(Integer.BYTES, "words");
            int begin = in.position();
            List<Integer> words = new ArrayList<>();
            for (int word = 0; word < size; word++) {
                words.add(in.u32("word"));
            }
            Program program = new Program(function, words);
            try {
                program.commands();
            } catch (IllegalArgumentException e) {
                throw in.broken(function + ": " + e.getMessage(), begin);
            }
            programs.add(program);
        }
        if (in.remaining() > 0) {
            throw in.broken(in.remaining() + " bytes follow the last function", in.position());
        }
        return programs;
    }

    List<Command> commands() {
        return Command.read(words);
    }
}
