// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.frontend.TfliteRounding;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.type.Shape;
import io.kiln.reference.ConstantFolder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Access to the model around an operator's subgraph: the other subgraphs, and the user's C functions. */
public interface Subgraphs {
    /**
     * Imports a subgraph that an operator calls.
     *
     * @param handles for each of its inputs, the name of the variable whose handle it is, or empty; inputs beyond the
     * list have none
     * @param shapes of its inputs, from which all others follow; empty for those in the file
     * @throws io.kiln.base.KilnException with all of its errors and unsupported operators; or if it calls itself
     */
    ImportedSubgraph called(int index, String name, List<Optional<String>> handles, List<Shape> shapes);

    /**
     * Imports a subgraph into the function of an operator that stands for it.
     *
     * @param around the values of the operator's own subgraph
     * @param args the values of the subgraph's inputs
     * @param infersShape whether all shapes follow from theirs; otherwise they are those in the file
     * @return those of its outputs
     * @throws io.kiln.base.KilnException with all of its errors and unsupported operators; or if it stands for itself
     */
    List<Arg> inlined(int index, TensorValues around, List<Arg> args, boolean infersShape);

    /** Computes constants of all subgraphs. */
    ConstantFolder folder();

    /** Whose arithmetic the operators have. */
    TfliteRounding rounding();

    /** Where Vela's memory plan puts a tensor of the model's own subgraph: its first byte in the arena, if it has a place there. */
    OptionalInt arenaOffset(int tensor);

    /** Declares a C function. Returns the parameter types of its first declaration. */
    String declare(String function, String signature);

    /**
     * A subgraph as a function.
     *
     * @param resources the variables shared with other subgraphs, by their names in the file, in the order of their first use
     * @param handles for each of its outputs, the variable whose handle it is; empty for a result
     */
    record ImportedSubgraph(Function function, Map<String, Variable> resources, List<Optional<String>> handles) {
        public ImportedSubgraph {
            resources = Collections.unmodifiableMap(new LinkedHashMap<>(resources));
            handles = List.copyOf(handles);
        }
    }
}
