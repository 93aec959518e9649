package anatomy

// The 159 structures, in the order of the segmentation model's output channels.
//
// Where the official name says left or right the constant starts with that side; sides
// are the patient's.
const (
	Spine Structure = iota + 1
	CervicalSpine
	ThoracicSpine
	LumbarSpine
	VertebraC1
	VertebraC2
	VertebraC3
	VertebraC4
	VertebraC5
	VertebraC6
	VertebraC7
	VertebraT1
	VertebraT2
	VertebraT3
	VertebraT4
	VertebraT5
	VertebraT6
	VertebraT7
	VertebraT8
	VertebraT9
	VertebraT10
	VertebraT11
	VertebraT12
	VertebraL1
	VertebraL2
	VertebraL3
	VertebraL4
	VertebraL5
	RibCartilage
	Sternum
	Clavicles
	LeftClavicle
	RightClavicle
	Scapulas
	LeftScapula
	RightScapula
	RightPosterior12thRib
	LeftPosterior12thRib
	RightAnterior11thRib
	RightPosterior11thRib
	LeftAnterior11thRib
	LeftPosterior11thRib
	RightAnterior10thRib
	RightPosterior10thRib
	LeftAnterior10thRib
	LeftPosterior10thRib
	RightAnterior9thRib
	RightPosterior9thRib
	LeftAnterior9thRib
	LeftPosterior9thRib
	RightAnterior8thRib
	RightPosterior8thRib
	LeftAnterior8thRib
	LeftPosterior8thRib
	RightAnterior7thRib
	RightPosterior7thRib
	LeftAnterior7thRib
	LeftPosterior7thRib
	RightAnterior6thRib
	RightPosterior6thRib
	LeftAnterior6thRib
	LeftPosterior6thRib
	RightAnterior5thRib
	RightPosterior5thRib
	LeftAnterior5thRib
	LeftPosterior5thRib
	RightAnterior4thRib
	RightPosterior4thRib
	LeftAnterior4thRib
	LeftPosterior4thRib
	RightAnterior3rdRib
	RightPosterior3rdRib
	LeftAnterior3rdRib
	LeftPosterior3rdRib
	RightAnterior2ndRib
	RightPosterior2ndRib
	LeftAnterior2ndRib
	LeftPosterior2ndRib
	RightAnterior1stRib
	RightPosterior1stRib
	LeftAnterior1stRib
	LeftPosterior1stRib
	TwelfthRib
	Posterior11thRib
	Anterior11thRib
	Posterior10thRib
	Anterior10thRib
	Posterior9thRib
	Anterior9thRib
	Posterior8thRib
	Anterior8thRib
	Posterior7thRib
	Anterior7thRib
	Posterior6thRib
	Anterior6thRib
	Posterior5thRib
	Anterior5thRib
	Posterior4thRib
	Anterior4thRib
	Posterior3rdRib
	Anterior3rdRib
	Posterior2ndRib
	Anterior2ndRib
	Posterior1stRib
	Anterior1stRib
	Diaphragm
	LeftHemidiaphragm
	RightHemidiaphragm
	Stomach
	SmallBowel
	Duodenum
	Liver
	Pancreas
	LeftKidney
	RightKidney
	Cardiomediastinum
	UpperMediastinum
	LowerMediastinum
	AnteriorMediastinum
	MiddleMediastinum
	PosteriorMediastinum
	Heart
	LeftHeartAtrium
	RightHeartAtrium
	HeartMyocardium
	LeftHeartVentricle
	RightHeartVentricle
	Aorta
	AscendingAorta
	DescendingAorta
	AorticArch
	PulmonaryArtery
	InferiorVenaCava
	Esophagus
	Lung
	RightLung
	LeftLung
	LungBase
	MidZoneLung
	UpperZoneLung
	ApicalZoneLung
	RightUpperZoneLung
	RightMidZoneLung
	RightLungBase
	RightApicalZoneLung
	LeftUpperZoneLung
	LeftMidZoneLung
	LeftLungBase
	LeftApicalZoneLung
	LeftLungLowerLobe
	LeftLungUpperLobe
	RightLungLowerLobe
	RightLungMiddleLobe
	RightLungUpperLobe
	Trachea
	TrachealBifurcation
	Breast
	LeftBreast
	RightBreast
)

// facts is the row of one structure: the official name as the model's files spell it, our
// stable key, and the patient's side.
type facts struct {
	name, key string
	side      Side
}

// Source: names and order from the public CXAS label list (commit 6e5c169); keys are ours.
var table = [Count + 1]facts{
	Spine:                 {"spine", "spine", SideNone},
	CervicalSpine:         {"cervical spine", "cervical_spine", SideNone},
	ThoracicSpine:         {"thoracic spine", "thoracic_spine", SideNone},
	LumbarSpine:           {"lumbar spine", "lumbar_spine", SideNone},
	VertebraC1:            {"vertebrae C1", "vertebrae_c1", SideNone},
	VertebraC2:            {"vertebrae C2", "vertebrae_c2", SideNone},
	VertebraC3:            {"vertebrae C3", "vertebrae_c3", SideNone},
	VertebraC4:            {"vertebrae C4", "vertebrae_c4", SideNone},
	VertebraC5:            {"vertebrae C5", "vertebrae_c5", SideNone},
	VertebraC6:            {"vertebrae C6", "vertebrae_c6", SideNone},
	VertebraC7:            {"vertebrae C7", "vertebrae_c7", SideNone},
	VertebraT1:            {"vertebrae T1", "vertebrae_t1", SideNone},
	VertebraT2:            {"vertebrae T2", "vertebrae_t2", SideNone},
	VertebraT3:            {"vertebrae T3", "vertebrae_t3", SideNone},
	VertebraT4:            {"vertebrae T4", "vertebrae_t4", SideNone},
	VertebraT5:            {"vertebrae T5", "vertebrae_t5", SideNone},
	VertebraT6:            {"vertebrae T6", "vertebrae_t6", SideNone},
	VertebraT7:            {"vertebrae T7", "vertebrae_t7", SideNone},
	VertebraT8:            {"vertebrae T8", "vertebrae_t8", SideNone},
	VertebraT9:            {"vertebrae T9", "vertebrae_t9", SideNone},
	VertebraT10:           {"vertebrae T10", "vertebrae_t10", SideNone},
	VertebraT11:           {"vertebrae T11", "vertebrae_t11", SideNone},
	VertebraT12:           {"vertebrae T12", "vertebrae_t12", SideNone},
	VertebraL1:            {"vertebrae L1", "vertebrae_l1", SideNone},
	VertebraL2:            {"vertebrae L2", "vertebrae_l2", SideNone},
	VertebraL3:            {"vertebrae L3", "vertebrae_l3", SideNone},
	VertebraL4:            {"vertebrae L4", "vertebrae_l4", SideNone},
	VertebraL5:            {"vertebrae L5", "vertebrae_l5", SideNone},
	RibCartilage:          {"rib_cartilage", "rib_cartilage", SideNone},
	Sternum:               {"sternum", "sternum", SideNone},
	Clavicles:             {"clavicles", "clavicles", SideNone},
	LeftClavicle:          {"clavicle left", "clavicle_left", SideLeft},
	RightClavicle:         {"clavicle right", "clavicle_right", SideRight},
	Scapulas:              {"scapulas", "scapulas", SideNone},
	LeftScapula:           {"scapula left", "scapula_left", SideLeft},
	RightScapula:          {"scapula right", "scapula_right", SideRight},
	RightPosterior12thRib: {"posterior 12th rib right", "posterior_12th_rib_right", SideRight},
	LeftPosterior12thRib:  {"posterior 12th rib left", "posterior_12th_rib_left", SideLeft},
	RightAnterior11thRib:  {"anterior 11th rib right", "anterior_11th_rib_right", SideRight},
	RightPosterior11thRib: {"posterior 11th rib right", "posterior_11th_rib_right", SideRight},
	LeftAnterior11thRib:   {"anterior 11th rib left", "anterior_11th_rib_left", SideLeft},
	LeftPosterior11thRib:  {"posterior 11th rib left", "posterior_11th_rib_left", SideLeft},
	RightAnterior10thRib:  {"anterior 10th rib right", "anterior_10th_rib_right", SideRight},
	RightPosterior10thRib: {"posterior 10th rib right", "posterior_10th_rib_right", SideRight},
	LeftAnterior10thRib:   {"anterior 10th rib left", "anterior_10th_rib_left", SideLeft},
	LeftPosterior10thRib:  {"posterior 10th rib left", "posterior_10th_rib_left", SideLeft},
	RightAnterior9thRib:   {"anterior 9th rib right", "anterior_9th_rib_right", SideRight},
	RightPosterior9thRib:  {"posterior 9th rib right", "posterior_9th_rib_right", SideRight},
	LeftAnterior9thRib:    {"anterior 9th rib left", "anterior_9th_rib_left", SideLeft},
	LeftPosterior9thRib:   {"posterior 9th rib left", "posterior_9th_rib_left", SideLeft},
	RightAnterior8thRib:   {"anterior 8th rib right", "anterior_8th_rib_right", SideRight},
	RightPosterior8thRib:  {"posterior 8th rib right", "posterior_8th_rib_right", SideRight},
	LeftAnterior8thRib:    {"anterior 8th rib left", "anterior_8th_rib_left", SideLeft},
	LeftPosterior8thRib:   {"posterior 8th rib left", "posterior_8th_rib_left", SideLeft},
	RightAnterior7thRib:   {"anterior 7th rib right", "anterior_7th_rib_right", SideRight},
	RightPosterior7thRib:  {"posterior 7th rib right", "posterior_7th_rib_right", SideRight},
	LeftAnterior7thRib:    {"anterior 7th rib left", "anterior_7th_rib_left", SideLeft},
	LeftPosterior7thRib:   {"posterior 7th rib left", "posterior_7th_rib_left", SideLeft},
	RightAnterior6thRib:   {"anterior 6th rib right", "anterior_6th_rib_right", SideRight},
	RightPosterior6thRib:  {"posterior 6th rib right", "posterior_6th_rib_right", SideRight},
	LeftAnterior6thRib:    {"anterior 6th rib left", "anterior_6th_rib_left", SideLeft},
	LeftPosterior6thRib:   {"posterior 6th rib left", "posterior_6th_rib_left", SideLeft},
	RightAnterior5thRib:   {"anterior 5th rib right", "anterior_5th_rib_right", SideRight},
	RightPosterior5thRib:  {"posterior 5th rib right", "posterior_5th_rib_right", SideRight},
	LeftAnterior5thRib:    {"anterior 5th rib left", "anterior_5th_rib_left", SideLeft},
	LeftPosterior5thRib:   {"posterior 5th rib left", "posterior_5th_rib_left", SideLeft},
	RightAnterior4thRib:   {"anterior 4th rib right", "anterior_4th_rib_right", SideRight},
	RightPosterior4thRib:  {"posterior 4th rib right", "posterior_4th_rib_right", SideRight},
	LeftAnterior4thRib:    {"anterior 4th rib left", "anterior_4th_rib_left", SideLeft},
	LeftPosterior4thRib:   {"posterior 4th rib left", "posterior_4th_rib_left", SideLeft},
	RightAnterior3rdRib:   {"anterior 3rd rib right", "anterior_3rd_rib_right", SideRight},
	RightPosterior3rdRib:  {"posterior 3rd rib right", "posterior_3rd_rib_right", SideRight},
	LeftAnterior3rdRib:    {"anterior 3rd rib left", "anterior_3rd_rib_left", SideLeft},
	LeftPosterior3rdRib:   {"posterior 3rd rib left", "posterior_3rd_rib_left", SideLeft},
	RightAnterior2ndRib:   {"anterior 2nd rib right", "anterior_2nd_rib_right", SideRight},
	RightPosterior2ndRib:  {"posterior 2nd rib right", "posterior_2nd_rib_right", SideRight},
	LeftAnterior2ndRib:    {"anterior 2nd rib left", "anterior_2nd_rib_left", SideLeft},
	LeftPosterior2ndRib:   {"posterior 2nd rib left", "posterior_2nd_rib_left", SideLeft},
	RightAnterior1stRib:   {"anterior 1st rib right", "anterior_1st_rib_right", SideRight},
	RightPosterior1stRib:  {"posterior 1st rib right", "posterior_1st_rib_right", SideRight},
	LeftAnterior1stRib:    {"anterior 1st rib left", "anterior_1st_rib_left", SideLeft},
	LeftPosterior1stRib:   {"posterior 1st rib left", "posterior_1st_rib_left", SideLeft},
	TwelfthRib:            {"12th rib", "12th_rib", SideNone},
	Posterior11thRib:      {"posterior 11th rib", "posterior_11th_rib", SideNone},
	Anterior11thRib:       {"anterior 11th rib", "anterior_11th_rib", SideNone},
	Posterior10thRib:      {"posterior 10th rib", "posterior_10th_rib", SideNone},
	Anterior10thRib:       {"anterior 10th rib", "anterior_10th_rib", SideNone},
	Posterior9thRib:       {"posterior 9th rib", "posterior_9th_rib", SideNone},
	Anterior9thRib:        {"anterior 9th rib", "anterior_9th_rib", SideNone},
	Posterior8thRib:       {"posterior 8th rib", "posterior_8th_rib", SideNone},
	Anterior8thRib:        {"anterior 8th rib", "anterior_8th_rib", SideNone},
	Posterior7thRib:       {"posterior 7th rib", "posterior_7th_rib", SideNone},
	Anterior7thRib:        {"anterior 7th rib", "anterior_7th_rib", SideNone},
	Posterior6thRib:       {"posterior 6th rib", "posterior_6th_rib", SideNone},
	Anterior6thRib:        {"anterior 6th rib", "anterior_6th_rib", SideNone},
	Posterior5thRib:       {"posterior 5th rib", "posterior_5th_rib", SideNone},
	Anterior5thRib:        {"anterior 5th rib", "anterior_5th_rib", SideNone},
	Posterior4thRib:       {"posterior 4th rib", "posterior_4th_rib", SideNone},
	Anterior4thRib:        {"anterior 4th rib", "anterior_4th_rib", SideNone},
	Posterior3rdRib:       {"posterior 3rd rib", "posterior_3rd_rib", SideNone},
	Anterior3rdRib:        {"anterior 3rd rib", "anterior_3rd_rib", SideNone},
	Posterior2ndRib:       {"posterior 2nd rib", "posterior_2nd_rib", SideNone},
	Anterior2ndRib:        {"anterior 2nd rib", "anterior_2nd_rib", SideNone},
	Posterior1stRib:       {"posterior 1st rib", "posterior_1st_rib", SideNone},
	Anterior1stRib:        {"anterior 1st rib", "anterior_1st_rib", SideNone},
	Diaphragm:             {"diaphragm", "diaphragm", SideNone},
	LeftHemidiaphragm:     {"left hemidiaphragm", "left_hemidiaphragm", SideLeft},
	RightHemidiaphragm:    {"right hemidiaphragm", "right_hemidiaphragm", SideRight},
	Stomach:               {"stomach", "stomach", SideNone},
	SmallBowel:            {"small bowel", "small_bowel", SideNone},
	Duodenum:              {"duodenum", "duodenum", SideNone},
	Liver:                 {"liver", "liver", SideNone},
	Pancreas:              {"pancreas", "pancreas", SideNone},
	LeftKidney:            {"kidney left", "kidney_left", SideLeft},
	RightKidney:           {"kidney right", "kidney_right", SideRight},
	Cardiomediastinum:     {"cardiomediastinum", "cardiomediastinum", SideNone},
	UpperMediastinum:      {"upper mediastinum", "upper_mediastinum", SideNone},
	LowerMediastinum:      {"lower mediastinum", "lower_mediastinum", SideNone},
	AnteriorMediastinum:   {"anterior mediastinum", "anterior_mediastinum", SideNone},
	MiddleMediastinum:     {"middle mediastinum", "middle_mediastinum", SideNone},
	PosteriorMediastinum:  {"posterior mediastinum", "posterior_mediastinum", SideNone},
	Heart:                 {"heart", "heart", SideNone},
	LeftHeartAtrium:       {"heart atrium left", "heart_atrium_left", SideLeft},
	RightHeartAtrium:      {"heart atrium right", "heart_atrium_right", SideRight},
	HeartMyocardium:       {"heart myocardium", "heart_myocardium", SideNone},
	LeftHeartVentricle:    {"heart ventricle left", "heart_ventricle_left", SideLeft},
	RightHeartVentricle:   {"heart ventricle right", "heart_ventricle_right", SideRight},
	Aorta:                 {"aorta", "aorta", SideNone},
	AscendingAorta:        {"ascending aorta", "ascending_aorta", SideNone},
	DescendingAorta:       {"descending aorta", "descending_aorta", SideNone},
	AorticArch:            {"aortic arch", "aortic_arch", SideNone},
	PulmonaryArtery:       {"pulmonary artery", "pulmonary_artery", SideNone},
	InferiorVenaCava:      {"inferior vena cava", "inferior_vena_cava", SideNone},
	Esophagus:             {"esophagus", "esophagus", SideNone},
	Lung:                  {"lung", "lung", SideNone},
	RightLung:             {"right lung", "right_lung", SideRight},
	LeftLung:              {"left lung", "left_lung", SideLeft},
	LungBase:              {"lung base", "lung_base", SideNone},
	MidZoneLung:           {"mid zone lung", "mid_zone_lung", SideNone},
	UpperZoneLung:         {"upper zone lung", "upper_zone_lung", SideNone},
	ApicalZoneLung:        {"apical zone lung", "apical_zone_lung", SideNone},
	RightUpperZoneLung:    {"right upper zone lung", "right_upper_zone_lung", SideRight},
	RightMidZoneLung:      {"right mid zone lung", "right_mid_zone_lung", SideRight},
	RightLungBase:         {"right lung base", "right_lung_base", SideRight},
	RightApicalZoneLung:   {"right apical zone lung", "right_apical_zone_lung", SideRight},
	LeftUpperZoneLung:     {"left upper zone lung", "left_upper_zone_lung", SideLeft},
	LeftMidZoneLung:       {"left mid zone lung", "left_mid_zone_lung", SideLeft},
	LeftLungBase:          {"left lung base", "left_lung_base", SideLeft},
	LeftApicalZoneLung:    {"left apical zone lung", "left_apical_zone_lung", SideLeft},
	LeftLungLowerLobe:     {"lung lower lobe left", "lung_lower_lobe_left", SideLeft},
	LeftLungUpperLobe:     {"lung upper lobe left", "lung_upper_lobe_left", SideLeft},
	RightLungLowerLobe:    {"lung lower lobe right", "lung_lower_lobe_right", SideRight},
	RightLungMiddleLobe:   {"lung middle lobe right", "lung_middle_lobe_right", SideRight},
	RightLungUpperLobe:    {"lung upper lobe right", "lung_upper_lobe_right", SideRight},
	Trachea:               {"trachea", "trachea", SideNone},
	TrachealBifurcation:   {"tracheal bifurcation", "tracheal_bifurcation", SideNone},
	Breast:                {"breast", "breast", SideNone},
	LeftBreast:            {"breast left", "breast_left", SideLeft},
	RightBreast:           {"breast right", "breast_right", SideRight},
}
