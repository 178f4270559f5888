// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.artifact.PromisedForms;
import io.kiln.base.Bytes;
import io.kiln.module.host.HostModel.HostTensor;
import java.nio.file.Path;
import java.util.List;

/**
 * A model in a library of {@code kiln:export}: the very code that the firmware runs, on this computer. Each object has a copy of its own of the
 * library, and is for one thread at a time. Loading a library runs code of it: load only those that you trust.
 */
public final class HostModel implements AutoCloseable {
    private final io.kiln.module.host.HostModel model;

    private HostModel(io.kiln.module.host.HostModel model) {
        this.model = model;
    }

    /**
     * Loads a library.
     *
     * @param library such as {@code libkws.so}
     * @param name the model's name, {@code kiln.name}
     * @return the model
     * @throws KilnFailure if it cannot be loaded or has no such model
     */
    public static HostModel load(Path library, String name) {
        return KilnFailure.told(() -> new HostModel(io.kiln.module.host.HostModel.load(library, name)));
    }

    /**
     * The model's inputs; their scales are 0, since a library does not have them.
     *
     * @return in its order
     */
    public List<TensorDescription> inputs() {
        return model.inputs().stream().map(HostModel::description).toList();
    }

    /**
     * The model's outputs; their scales are 0, since a library does not have them.
     *
     * @return in its order
     */
    public List<TensorDescription> outputs() {
        return model.outputs().stream().map(HostModel::description).toList();
    }

    private static TensorDescription description(HostTensor tensor) {
        return new TensorDescription(tensor.name(), PromisedForms.of(tensor.dtype()), tensor.dimensions(), 0, 0);
    }

    /**
     * Runs the model.
     *
     * @param inputs the elements of each input, row-major, little-endian
     * @return the elements of each output
     * @throws IllegalArgumentException if number or sizes of the inputs are wrong
     * @throws KilnFailure with the model's message if it fails
     */
    public List<byte[]> run(List<byte[]> inputs) {
        return KilnFailure.told(
                () -> model.run(inputs.stream().map(Bytes::copyOf).toList()).stream()
                        .map(Bytes::toArray)
                        .toList());
    }

    /** Sets the variables of a model with a state to what they are at first. */
    public void reset() {
        KilnFailure.told(model::reset);
    }

    /** Unloads its copy of the library. */
    @Override
    public void close() {
        model.close();
    }
}
