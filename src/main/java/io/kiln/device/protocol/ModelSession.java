// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.OptionalLong;

/** A session with a program that runs models for a host. Not thread-safe. */
public interface ModelSession extends AutoCloseable {
    /**
     * A model in the image.
     *
     * @param inputBytes size of each input
     * @param outputBytes size of each output
     */
    record Model(String name, List<Integer> inputBytes, List<Integer> outputBytes) {
        public Model {
            inputBytes = List.copyOf(inputBytes);
            outputBytes = List.copyOf(outputBytes);
        }
    }

    /**
     * The models in the image, in the order of their numbers in {@link #run}.
     *
     * @throws io.kiln.base.KilnException if the program does not answer
     */
    List<Model> models();

    /**
     * Runs a model once.
     *
     * @param index its number in {@link #models}
     * @param model its entry in {@link #models}
     * @param inputs the bytes of each input, of exactly its size
     * @return the bytes of each output
     * @throws io.kiln.base.KilnException if a size is wrong, the model fails, or the program does not answer
     */
    List<Bytes> run(int index, Model model, List<Bytes> inputs);

    /**
     * Asks the program to end, and waits until it reports its end.
     *
     * @throws io.kiln.base.KilnException if its exit code is not 0
     */
    void exit();

    /** The deepest use of the program's stack in bytes, after {@link #exit}; empty if the program did not say. */
    default OptionalLong stackUsed() {
        return OptionalLong.empty();
    }

    /** Stops reading. The program continues. */
    @Override
    void close();
}
