// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.text.Annotations;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelayParser;
import io.kiln.ir.text.RelaySyntax.Call;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The operators of a function while its text is read, and the types and places of its values by id. */
public final class Bindings {
    private final String file;
    private final ConstantFolder folder;
    private final List<TensorType> types = new ArrayList<>();
    private final List<Binding> list = new ArrayList<>();
    private final Map<Integer, Binding> producers = new HashMap<>();
    private final Map<Integer, Place> places = new HashMap<>();
    private final Set<Integer> superseded = new HashSet<>();

    /**
     * @param file the text's name in origins
     * @param folder computes constants
     */
    Bindings(String file, ConstantFolder folder) {
        this.file = file;
        this.folder = folder;
    }

    /** In the order of the text. */
    public List<Binding> list() {
        return list;
    }

    /** Where values are defined, by id. */
    public Map<Integer, Place> places() {
        return places;
    }

    /** Ids of values whose operators were replaced by one operator. */
    public Set<Integer> superseded() {
        return superseded;
    }

    public TensorType type(Arg arg) {
        return arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id());
    }

    /** The operator that computes a value; empty for inputs, variables and constants. */
    Optional<Binding> producer(Arg arg) {
        return arg instanceof Arg.Ref ref ? Optional.ofNullable(producers.get(ref.id())) : Optional.empty();
    }

    /** Marks the operator that computes a value as replaced by another. */
    void supersede(Arg arg) {
        if (arg instanceof Arg.Ref ref) {
            superseded.add(ref.id());
        }
    }

    /** The next id. */
    Arg.Ref newValue(TensorType type, Place place) {
        types.add(type);
        places.put(types.size() - 1, place);
        return new Arg.Ref(types.size() - 1);
    }

    /**
     * Appends an operator. An operator on constants only is evaluated at once, unless Kiln itself printed the call as
     * an operator.
     *
     * @param name the result's name, for origins
     * @throws IllegalArgumentException if the arguments do not fit the operator, or the result is too large
     */
    Arg emit(Call call, String name, Op op, List<? extends Arg> args) {
        TensorType type = op.infer(args.stream().map(this::type).toList());
        boolean isOwn = Annotations.origin(call.comment()).isPresent();
        boolean folds = !isOwn
                && !op.has(Trait.COPY)
                && !op.has(Trait.OPAQUE)
                && op.writes().isEmpty();
        if (folds && !args.isEmpty() && args.stream().allMatch(Constant.class::isInstance)) {
            return folder.fold(
                    op,
                    args.stream().map(Constant.class::cast).toList(),
                    type,
                    call.place().in(file) + ": " + op.name());
        }
        if (type.isLargerThan(RelayParser.MAX_TENSOR_BYTES)) {
            throw new IllegalArgumentException("the result " + type.text() + " is too large");
        }
        Origin origin =
                Annotations.origin(call.comment()).orElseGet(() -> new Origin(file, list.size(), op.name(), name));
        Arg.Ref value = newValue(type, call.place());
        Binding binding = new Binding(value.id(), op, List.copyOf(args), type, origin);
        list.add(binding);
        producers.put(value.id(), binding);
        return value;
    }
}
