// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.lower.ProvenRequantize;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Caches the results of trying schedules for one layer. Several schedules, for the whole layer and for its rows, ask for the same sums and
 * proofs, and the search for a rescaling takes longer than everything else that is done for a layer.
 * Thread-safe.
 */
public final class LayerProofs {
    private final Map<Question, Optional<ProvenRequantize>> answers = new HashMap<>();
    private Optional<Optional<FoldedSums>> sums = Optional.empty();

    /**
     * A rescaling that was searched for.
     *
     * <p>Its comparison is written out, as are those of the records in it: Java links generated ones when they are first called, which
     * takes longer than many a search.
     *
     * @param mostScaleBits largest scale of the accumulator, as a power of two; none for as far as 32 bits allow
     */
    private record Question(ProvenRequantize.Reference reference, List<Long> bounds, Optional<Integer> mostScaleBits) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Question question
                    && reference.equals(question.reference)
                    && bounds.equals(question.bounds)
                    && mostScaleBits.equals(question.mostScaleBits);
        }

        @Override
        public int hashCode() {
            return 31 * (31 * reference.hashCode() + bounds.hashCode()) + mostScaleBits.hashCode();
        }
    }

    /** Searches once for a requantization, as {@link ProvenRequantize#find(ProvenRequantize.Reference, List)} does. */
    public synchronized Optional<ProvenRequantize> find(ProvenRequantize.Reference reference, List<Long> bounds) {
        return answers.computeIfAbsent(
                new Question(reference, bounds, Optional.empty()), q -> ProvenRequantize.find(reference, bounds));
    }

    /** Searches once for a requantization, as {@link ProvenRequantize#find(ProvenRequantize.Reference, List, int)} does. */
    public synchronized Optional<ProvenRequantize> find(
            ProvenRequantize.Reference reference, List<Long> bounds, int mostScaleBits) {
        return answers.computeIfAbsent(
                new Question(reference, bounds, Optional.of(mostScaleBits)),
                q -> ProvenRequantize.find(reference, bounds, mostScaleBits));
    }

    synchronized Optional<FoldedSums> sums(ConvComputation conv) {
        if (sums.isEmpty()) {
            sums = Optional.of(FoldedSums.compute(conv));
        }
        return sums.get();
    }
}
