// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.spi.ArtifactFile;
import io.kiln.spi.ExtensionFailure;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
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
    static ByteBuffer write(List<Program> programs) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(programs.size());
            for (Program program : programs) {
                out.writeUTF(program.function);
                out.writeInt(program.words.size());
                for (int word : program.words) {
                    out.writeInt(word);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ByteBuffer.wrap(bytes.toByteArray());
    }

    /**
     * Reads a file.
     *
     * @throws ExtensionFailure with the offset of what is wrong
     */
    static List<Program> read(ArtifactFile file) {
        ByteBuffer in = file.content().order(ByteOrder.BIG_ENDIAN);
        try {
            List<Program> programs = new ArrayList<>();
            for (int count = in.getInt(); count > 0; count--) {
                byte[] name = new byte[in.getShort() & 0xffff];
                in.get(name);
                int size = in.getInt();
                List<Integer> words = new ArrayList<>();
                for (int word = 0; word < size; word++) {
                    words.add(in.getInt());
                }
                Program program = new Program(new String(name, StandardCharsets.UTF_8), words);
                program.commands();
                programs.add(program);
            }
            return programs;
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new ExtensionFailure(
                    "the command stream is damaged", file.name() + ", offset " + in.position(), "", "Build it again");
        }
    }

    List<Command> commands() {
        return Command.read(words);
    }
}
