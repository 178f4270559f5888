// SPDX-License-Identifier: Apache-2.0
/** Models as artifacts: a model, its vectors and a card that says what it expects. */
package io.kiln.flow.model;
