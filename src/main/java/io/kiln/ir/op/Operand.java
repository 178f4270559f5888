// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;

/**
 * An operand in a {@link Signature}: one argument, or several of one kind.
 *
 * @param <O> the operator
 * @param name its name in messages
 * @param role its role
 * @param broadcasts whether a constant is a tensor that broadcasts with the data
 * @param isWeight whether its elements are weights
 * @param types its element types; empty for any
 * @param count number of arguments, if it does not depend on the operator
 * @param times number of arguments of an operator
 * @param fits what a type must satisfy
 * @param rules what a constant must satisfy
 */
public record Operand<O extends Op>(
        String name,
        Role role,
        boolean broadcasts,
        boolean isWeight,
        Set<DType> types,
        Optional<Integer> count,
        ToIntFunction<O> times,
        List<Fit<O>> fits,
        List<Rule<O>> rules) {

    /** A condition on the type of an argument. */
    @FunctionalInterface
    public interface Fit<O> {
        /**
         * Checks the type of an argument.
         *
         * @param what the argument's name
         * @param args the types of all arguments
         * @throws IllegalArgumentException with a message for users if it does not fit
         */
        void check(String what, TensorType type, O op, List<TensorType> args);
    }

    /** A condition on the elements of a constant argument. */
    @FunctionalInterface
    interface Rule<O> {
        void check(int position, O op, Arguments args);
    }

    public Operand {
        types = Set.copyOf(types);
        fits = List.copyOf(fits);
        rules = List.copyOf(rules);
    }

    static <O extends Op> Operand<O> of(String name, Role role, DType... types) {
        Operand<O> any =
                new Operand<>(name, role, false, false, Set.of(types), Optional.of(1), op -> 1, List.of(), List.of());
        return types.length == 0 ? any : any.fits((what, type, op, args) -> Check.oneOf(what, type, any.types));
    }

    /** With another condition on its type. */
    public Operand<O> fits(Fit<O> fit) {
        List<Fit<O>> all = new ArrayList<>(fits);
        all.add(fit);
        return new Operand<>(name, role, broadcasts, isWeight, types, count, times, all, rules);
    }

    Operand<O> rule(Rule<O> rule) {
        List<Rule<O>> all = new ArrayList<>(rules);
        all.add(rule);
        return new Operand<>(name, role, broadcasts, isWeight, types, count, times, fits, all);
    }

    /** Several arguments of this kind. */
    public Operand<O> times(int number) {
        return new Operand<>(name, role, broadcasts, isWeight, types, Optional.of(number), op -> number, fits, rules);
    }

    /** As many arguments of this kind as the operator states. */
    public Operand<O> times(ToIntFunction<O> number) {
        return new Operand<>(name, role, broadcasts, isWeight, types, Optional.empty(), number, fits, rules);
    }

    /** Although it is constant, it is a tensor that broadcasts with the data. */
    public Operand<O> broadcasting() {
        return new Operand<>(name, role, true, isWeight, types, count, times, fits, rules);
    }

    /** Each of its elements is multiplied once for every vector along the result's last axis. */
    public Operand<O> weighs() {
        return new Operand<>(name, role, broadcasts, true, types, count, times, fits, rules);
    }

    /** It has the element type of another operand. */
    public Operand<O> like(String other) {
        return fits((what, type, op, args) -> Check.dtype(
                what, type, args.get(op.card().signature().position(other)).dtype()));
    }

    /** It has a number of dimensions. */
    public Operand<O> rank(int rank) {
        return fits((what, type, op, args) -> Check.rank(what, type, rank));
    }

    /** It has elements, and a last dimension. */
    public Operand<O> vectors() {
        return fits((what, type, op, args) -> Check.vectors(type));
    }

    /** It has elements. */
    public Operand<O> filled() {
        return fits((what, type, op, args) -> Check.elements(op, type));
    }

    /** It is one number. */
    public Operand<O> scalar() {
        return scalarOr((op, args) -> 1);
    }

    /** It is one number, or a vector of as many as stated. */
    public Operand<O> scalarOr(ToIntBiFunction<O, List<TensorType>> channels) {
        return fits((what, type, op, args) -> Check.perAxis(what, type, channels.applyAsInt(op, args)));
    }

    /** It is of the state's type that belongs to the data. */
    public Operand<O> holds(BiFunction<O, TensorType, TensorType> expected) {
        return fits((what, type, op, args) -> Check.state(type, expected.apply(op, args.get(0))));
    }

    /** Its elements, if it is constant, are in a range. */
    public Operand<O> within(long least, long most) {
        String range = most == Long.MAX_VALUE ? least + " or more" : least + " to " + most;
        return rule(
                (position, op, args) -> args.integers(position, name, value -> value >= least && value <= most, range));
    }

    /** Whether it is a tensor, not a constant of the operator's own. */
    boolean isTensor() {
        return role == Role.DATA || broadcasts;
    }

    void check(TensorType type, O op, List<TensorType> args) {
        for (Fit<O> each : fits) {
            each.check(name, type, op, args);
        }
    }

    void check(int position, O op, Arguments args) {
        for (Rule<O> each : rules) {
            each.check(position, op, args);
        }
    }
}
