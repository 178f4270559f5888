// SPDX-License-Identifier: Apache-2.0
/** The steps that verify and measure an image, and their records. */
package io.kiln.flow.verify;
