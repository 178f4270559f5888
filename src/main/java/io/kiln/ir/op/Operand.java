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
 * @param kind what the operator does with it
 * @param types its element types; empty for any
 * @param number how many arguments
 * @param fits what a type must satisfy
 * @param rules what a constant must satisfy
 */
public record Operand<O extends Op>(
        String name, Kind kind, Set<DType> types, Count<O> number, List<Fit<O>> fits, List<Rule<O>> rules) {

    /**
     * What an operator does with an operand.
     *
     * @param broadcasts whether a constant is a tensor that broadcasts with the data
     * @param weighs whether each element is multiplied once for every vector along the result's last axis
     */
    public record Kind(Role role, boolean broadcasts, boolean weighs) {}

    /**
     * A number of arguments.
     *
     * @param fixed the number, if it does not depend on the operator
     * @param of the number for an operator
     */
    public record Count<O>(Optional<Integer> fixed, ToIntFunction<O> of) {
        static <O> Count<O> of(int number) {
            return new Count<>(Optional.of(number), op -> number);
        }
    }

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
                new Operand<>(name, new Kind(role, false, false), Set.of(types), Count.of(1), List.of(), List.of());
        return types.length == 0 ? any : any.fits((what, type, op, args) -> Check.oneOf(what, type, any.types));
    }

    private Operand<O> with(Kind other) {
        return new Operand<>(name, other, types, number, fits, rules);
    }

    private Operand<O> with(Count<O> other) {
        return new Operand<>(name, kind, types, other, fits, rules);
    }

    /** With another condition on its type. */
    public Operand<O> fits(Fit<O> fit) {
        List<Fit<O>> all = new ArrayList<>(fits);
        all.add(fit);
        return new Operand<>(name, kind, types, number, all, rules);
    }

    Operand<O> rule(Rule<O> rule) {
        List<Rule<O>> all = new ArrayList<>(rules);
        all.add(rule);
        return new Operand<>(name, kind, types, number, fits, all);
    }

    /** Several arguments of this kind. */
    public Operand<O> times(int count) {
        return with(Count.of(count));
    }

    /** As many arguments of this kind as the operator states. */
    public Operand<O> times(ToIntFunction<O> count) {
        return with(new Count<>(Optional.empty(), count));
    }

    /** Although it is constant, it is a tensor that broadcasts with the data. */
    public Operand<O> broadcasting() {
        return with(new Kind(kind.role, true, kind.weighs));
    }

    public Operand<O> weighs() {
        return with(new Kind(kind.role, kind.broadcasts, true));
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

    public Role role() {
        return kind.role;
    }

    /** The number of arguments of an operator. */
    int times(O op) {
        return number.of().applyAsInt(op);
    }

    /** Whether it is a tensor, not a constant of the operator's own. */
    boolean isTensor() {
        return role() == Role.DATA || kind.broadcasts;
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

    /** The role of an argument. */
    public enum Role {
        /** A tensor, computed or constant. */
        DATA,

        /** A tensor known at build time. */
        CONSTANT,

        /** A variable of the function, which the operator reads and changes. */
        STATE
    }
}
