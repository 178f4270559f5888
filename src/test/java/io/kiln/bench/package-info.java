// SPDX-License-Identifier: Apache-2.0
/**
 * Measurements of whole images and generated C on emulators and hosts, the table of them that the documentation shows, and the check that
 * generated outputs stay as they are. It has no counterpart in the product: it measures the product from outside.
 */
package io.kiln.bench;
